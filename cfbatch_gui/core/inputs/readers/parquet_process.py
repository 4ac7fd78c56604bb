"""The program that `readers.parquet` runs to decode a file: it needs arro3 alone."""

import sys

WORD = "--decode-parquet"


def main(path: str) -> int:
    """Write the file's rows to standard output, as an Arrow stream; return the exit status."""
    from arro3.io import read_parquet, write_ipc_stream

    write_ipc_stream(read_parquet(path), sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
