"""`python -m offhook_app.bench suggest [--json] [--quick]`: the bench that begins in the window."""

import argparse
import sys

from offhook_app.bench.suggest import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="offhook bench")
    parser.add_argument("name", choices=("suggest",))
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, at most 50 seconds; nothing is kept")
    asked = parser.parse_args()
    return run(as_json=asked.json, quick=asked.quick)


if __name__ == "__main__":
    sys.exit(main())
