"""`make bench`: measures every part, or those named, each in a process of its own.

Exit status 0: every part ran to its end and no limit is broken.
"""

import argparse
import sys
import time
import traceback

from benchmarks.limits import apart, measure

PARTS = (
    *("million_rows", "read_files", "huge_file", "detect_csv", "spoilt_rows", "headers", "encodings"),
    *(
        "decode_answers",
        "account_answers",
        "export_results",
        "vectors",
        "grouping",
        "matching",
        "judging",
        "significance",
    ),
    *("reuse", "big_rankings", "ranking_page", "matches_page", "ledger", "open_window", "heartbeat"),
    *("journeys", "start_and_stop", "collecting"),
)


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)} (default: all)")
    parts = parser.parse_args().parts or PARTS
    if unknown := sorted(set(parts) - set(PARTS)):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    broken: list[str] = []
    took: dict[str, float] = {}
    for part in parts:
        started = time.perf_counter()
        try:
            found = apart(measure, part)
        except Exception:  # noqa: BLE001 - the other parts run all the same
            traceback.print_exc()
            broken.append(f"{part}: ended by an exception, see above")
        else:
            broken += [
                f"{part}: {figure.name}, {figure.value:,.2f} {figure.unit}, limit {figure.limit_text}"
                for figure in found
                if figure.is_broken
            ]
        took[part] = time.perf_counter() - started
    print(f"\n{', '.join(f'{part} {spent:.0f} s' for part, spent in took.items())}; {sum(took.values()):.0f} s in all.")
    print("\n".join([f"{len(broken)} broken:", *broken]) if broken else "No limit is broken.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
