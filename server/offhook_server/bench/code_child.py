"""`python -I -B -m offhook_server.bench.code_child`: executes a text from standard input and prints how that went.

For code that a small model wrote, which is clumsy, not cunning: it may compute and touch files of the current folder, within
limits; the network, other processes and files elsewhere are refused by an audit hook. No jail against an attacker.
"""

import ast
import os
import resource
import sys
from pathlib import Path
from typing import Literal

Verdict = Literal["passed", "syntax", "assertion", "error", "timeout"]

CPU_S = 5
MEMORY_BYTES = 512 << 20
FILE_BYTES = 1 << 20
_REFUSED = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "subprocess.", "ctypes.")
_REFUSED_OS = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.kill", "os.startfile")
_WRITING = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.link", "os.symlink", "os.truncate")


class RefusedError(BaseException):
    """Not an Exception, so that code which catches everything does not go on."""


def verdict(source: str) -> Verdict:
    """Executes `source` in this process, under whatever limits it has."""
    try:
        program = compile(ast.parse(source), "task", "exec")
    except (SyntaxError, ValueError):
        return "syntax"
    try:
        exec(program, {"__name__": "task"})
    except AssertionError:
        return "assertion"
    except BaseException:  # noqa: BLE001  whatever the code thought of raising
        return "error"
    return "passed"


def confine(folder: Path) -> None:
    """For the rest of this process's life."""
    for limit, most in (
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    inside = str(folder.resolve()) + os.sep

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event.startswith(_REFUSED) or event.startswith(_REFUSED_OS):
            raise RefusedError(event)
        if event == "open":
            path, _mode, flags = arguments[:3]
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            if writes and not _is_inside(path, inside):
                raise RefusedError(event)
        if event.startswith(_WRITING) and not _is_inside(arguments[0], inside):
            raise RefusedError(event)

    sys.addaudithook(refuse)


def _is_inside(path: object, folder: str) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return True  # a descriptor that was opened before
    return os.path.abspath(os.fsdecode(path)).startswith(folder)


def main() -> None:
    source = sys.stdin.read()
    confine(Path.cwd())
    outcome = verdict(source)
    sys.stdout.write(f"\n{outcome}")
    sys.stdout.flush()
    os._exit(0)  # whatever threads the code may have left


if __name__ == "__main__":
    main()
