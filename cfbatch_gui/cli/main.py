"""The entry point of `cfbatch`, which handles Ctrl+C before it imports the rest."""

import signal
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    try:
        from cfbatch_gui.cli.command_line import run_command_line

        return run_command_line(argv)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT  # ExitStatus.INTERRUPTED; its module may not have been imported yet


if __name__ == "__main__":
    sys.exit(main())
