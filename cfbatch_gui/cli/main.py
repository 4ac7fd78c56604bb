"""`cfbatch`: the command. What takes time to be imported is imported where Ctrl+C is already understood."""

import sys
from collections.abc import Sequence

_INTERRUPTED = 130  # cli.status has it too, and is not imported yet


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status. Never raises."""
    try:
        from cfbatch_gui.cli.command_line import run_command_line

        return run_command_line(argv)
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
