"""The tasks of `offhook bench code`, and the judge of what a model put into one. Asks no model."""

import asyncio
import contextlib
import os
import signal
import sys
from tempfile import TemporaryDirectory
from typing import Literal, cast, get_args

import msgspec

import offhook_resources
from offhook_server.bench.code_child import Verdict

NAME = "code_tasks.toml"
OPENS, CLOSES = "«", "»"
LIMIT_S = 5.0
Kind = Literal["body", "hole"]


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`code` with the reference solution between two marks; `check` is executed behind the finished code."""

    name: str
    code: str
    check: str

    @property
    def before(self) -> str:
        return self.code.partition(OPENS)[0]

    @property
    def reference(self) -> str:
        return self.code.partition(OPENS)[2].partition(CLOSES)[0]

    @property
    def after(self) -> str:
        return self.code.partition(CLOSES)[2]

    @property
    def kind(self) -> Kind:
        """A body is written on an empty line, a hole in one that holds something."""
        line = self.before.rpartition("\n")[2] + self.after.partition("\n")[0]
        return "hole" if line.strip() else "body"

    def file(self, text: str) -> str:
        """The whole file with `text` in place of the reference."""
        return self.before + text + self.after

    def program(self, text: str) -> str:
        return f"{self.file(text)}\n{self.check}"


class _Tasks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    task: list[Task]


def read_tasks() -> list[Task]:
    return msgspec.toml.decode(offhook_resources.path(NAME).read_bytes(), type=_Tasks).task


async def judge(program: str) -> Verdict:
    """Executes it in a process and a folder of its own, for LIMIT_S at most; see code_child."""
    pipe = asyncio.subprocess.PIPE
    with TemporaryDirectory() as folder:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-B",
            "-m",
            "offhook_server.bench.code_child",
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.defpath, "TMPDIR": folder},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                said, _ = await child.communicate(program.encode())
        except TimeoutError:
            return "timeout"
        finally:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                await child.wait()
    last = said.decode(errors="replace").rpartition("\n")[2]
    return cast("Verdict", last) if last in get_args(Verdict) else "error"  # it died of a limit
