"""The entry point of `cfbatch`. It imports the other modules, which takes time, where Ctrl+C is already handled."""

import signal
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status, also after Ctrl+C."""
    try:
        from cfbatch_gui.cli.command_line import run_command_line

        return run_command_line(argv)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # ExitStatus.INTERRUPTED; its module may not have been imported yet


if __name__ == "__main__":
    sys.exit(main())
