"""How this program starts a module of itself in another process, also when it is frozen into one executable.

A frozen executable has no `python -m`; it begins at the `offhook` command, which hands RUN to `run`.
"""

import runpy
import sys

RUN = "--run-module"


def command(module: str, *arguments: str) -> list[str]:
    # -P: never import from the current folder, which may be the person's project
    how = [RUN] if getattr(sys, "frozen", False) else ["-P", "-m"]
    return [sys.executable, *how, module, *arguments]


def run(module: str, *arguments: str) -> None:
    """Becomes `module`, as `python -m` would."""
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
