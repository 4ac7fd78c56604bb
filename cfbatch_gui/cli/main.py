"""`cfbatch`: the command. Everything else is imported where Ctrl+C is already handled, because that takes time."""

import signal
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status. Never raises."""
    try:
        from cfbatch_gui.cli.command_line import run_command_line

        return run_command_line(argv)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # ExitStatus.INTERRUPTED, whose module may not be imported yet


if __name__ == "__main__":
    sys.exit(main())
