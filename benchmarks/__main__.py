"""Runs every benchmark, or those named: each is a module of this folder with a main()."""

import importlib
import pkgutil
import sys
from pathlib import Path


def main(wanted: list[str]) -> None:
    names = sorted(
        module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != "__main__"
    )
    unknown = set(wanted) - set(names)
    if unknown:
        sys.exit(f"There is no benchmark named {', '.join(sorted(unknown))}. There are: {', '.join(names)}.")
    for name in wanted or names:
        module = importlib.import_module(f"benchmarks.{name}")
        if hasattr(module, "main"):
            title = (module.__doc__ or name).strip().splitlines()[0]
            print(f"\n{title}\n{'=' * len(title)}", flush=True)
            module.main()


if __name__ == "__main__":
    main(sys.argv[1:])
