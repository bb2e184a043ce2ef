"""`offhook [PATH]` opens the window; `offhook serve | complete | chat | doctor | models | bench` work in a terminal. Dispatch only."""

import os
import sys
from importlib import import_module

from offhook_app import settings
from offhook_wire import reentry
from offhook_wire.version import PRODUCT

USAGE = """\
offhook [PATH[:LINE[:COL]]]        open the window, with a file or a folder
offhook complete FILE:LINE:COL     stream the suggestion for that place, through the same server and line
offhook chat [QUESTION] [--file PATH[:LINE[-LINE]]] [--model deep|fast]
                                   ask a model, and stream its answer; without QUESTION: what comes by pipe
offhook doctor [--json] [--deep]   what is here, what is wrong, and the line that mends it; --deep loads the models
offhook models list|fetch|verify|add|remove
                                   the models on this machine: `offhook models --help`
offhook serve [--json] [--port N]  run the server alone
offhook bench NAME [--json] [--quick]
                                   measure: line, cancel, copy, code, suggest
offhook --version
"""

# commands that are a process of the server's, which the app never imports
SERVER = {
    "serve": ("offhook_server", "serve"),
    "models": ("offhook_server.models",),
    "bench": ("offhook_server.bench",),
}


def main() -> None:
    arguments = sys.argv[1:]
    match arguments:
        case ["-h" | "--help" | "help", *_]:
            print(USAGE, end="")
        case ["--version"]:
            print(f"offhook {PRODUCT}")
        case ["bench", "suggest", *rest]:
            _become("offhook_app.bench", "suggest", *rest)
        case [name, *rest] if name in SERVER:
            _become(*SERVER[name], *rest)
        case [reentry.RUN, module, *rest]:
            reentry.run(module, *rest)
        case ["complete" | "chat" | "doctor" as name, *rest]:
            sys.exit(import_module(f"offhook_app.cli.{name}").main(rest))
        case [option, *_] if option.startswith("-"):
            sys.exit(f"offhook: unknown option {option}\n{USAGE}")
        case _:
            if not settings.has_display():
                sys.exit(f"offhook: no display here. These work in a terminal:\n{USAGE}")
            _become("offhook_app", *arguments)


def _become(module: str, *arguments: str) -> None:
    """Replaces this process, so that signals and exit codes are the other's own."""
    command = reentry.command(module, *arguments)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
