"""`python -m offhook_server.bench NAME [--json] [--quick]`: runs one bench and prints what it found."""

import argparse
import asyncio
import importlib
import sys

from offhook_server.bench.report import Report
from offhook_server.errors import BackendError, UserError

BENCHES = ("line", "cancel", "copy", "code", "suggest")


def main() -> None:
    parser = argparse.ArgumentParser(prog="offhook bench")
    parser.add_argument("name", choices=BENCHES)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, at most 50 seconds; nothing is kept")
    asked = parser.parse_args()
    bench = importlib.import_module(f"offhook_server.bench.{asked.name}")
    try:
        report: Report = asyncio.run(bench.run(asked.quick))
    except (UserError, BackendError) as e:
        sys.exit(f"offhook bench: {e}")
    report.finish()
    report.write()
    print(report.to_json() if asked.json else report.table())


if __name__ == "__main__":
    main()
