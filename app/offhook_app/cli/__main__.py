"""`offhook [PATH]` opens the window; `offhook serve | complete | bench` work in a terminal. Dispatch only."""

import os
import sys

from offhook_app import settings
from offhook_wire.version import PRODUCT

USAGE = """\
offhook [PATH[:LINE[:COL]]]        open the window, with a file or a folder
offhook complete FILE:LINE:COL     stream the suggestion for that place, through the same server and line
offhook serve [--json] [--port N]  run the server alone
offhook bench NAME [--json] [--quick]
                                   measure: line, cancel
offhook --version
"""


def main() -> None:
    arguments = sys.argv[1:]
    match arguments:
        case ["-h" | "--help" | "help", *_]:
            print(USAGE, end="")
        case ["--version"]:
            print(f"offhook {PRODUCT}")
        case ["serve", *rest]:
            _become("offhook_server", "serve", *rest)
        case ["bench", *rest]:
            _become("offhook_server.bench", *rest)
        case ["complete", *rest]:
            from offhook_app.cli.complete import main as complete

            sys.exit(complete(rest))
        case [option, *_] if option.startswith("-"):
            sys.exit(f"offhook: unknown option {option}\n{USAGE}")
        case _:
            if not settings.has_display():
                sys.exit(f"offhook: no display here. These work in a terminal:\n{USAGE}")
            _become("offhook_app", *arguments)


def _become(module: str, *arguments: str) -> None:
    """Replaces this process, so that signals and exit codes are the other's own."""
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *arguments])


if __name__ == "__main__":
    main()
