"""Real processes for tests: started here, watched by pid, ended by pid, and counted so that none is left."""

import asyncio
import json
import os
import signal
import sys
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import psutil

from offhook_app.transport.server_process import Endpoint

LIMIT_S = 30.0
POLL_S = 0.02


@dataclass
class ServerProcess:
    """`offhook serve --json` in a process of its own; its workers are its children."""

    process: asyncio.subprocess.Process
    base_url: str
    token: str

    @classmethod
    async def start(cls, runtime: Path, *arguments: str, log: Path | None = None) -> "ServerProcess":
        environment = {**os.environ, "OFFHOOK_RUNTIME_DIR": str(runtime)}
        command = [sys.executable, "-m", "offhook_server", "serve", "--json", *arguments]
        with log.open("wb") if log else nullcontext() as errors:
            process = await asyncio.create_subprocess_exec(
                *command, stdout=asyncio.subprocess.PIPE, stderr=errors, env=environment, start_new_session=True
            )
        assert process.stdout is not None
        async with asyncio.timeout(LIMIT_S):
            said = json.loads(await process.stdout.readline())
        return cls(process, said.get("base_url", ""), said.get("token", said.get("message", "")))

    async def endpoint(self) -> Endpoint:
        """What transport.line_driver asks of a server."""
        return Endpoint(self.base_url, self.token)

    @property
    def pid(self) -> int:
        return self.process.pid

    def children(self) -> list[psutil.Process]:
        children: list[psutil.Process] = psutil.Process(self.pid).children(recursive=True)
        return children

    async def worker(self, command: str) -> psutil.Process:
        """The one child with this in its command line, once there is one."""

        def find() -> psutil.Process:
            for _ in range(int(LIMIT_S / POLL_S)):
                for child in self.children():
                    if command in " ".join(child.cmdline()):
                        return child
                threading.Event().wait(POLL_S)
            raise LookupError(command)

        return await asyncio.to_thread(find)

    def kill(self) -> None:
        if self.process.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    async def __aenter__(self) -> "ServerProcess":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def end(self) -> int:
        """As Ctrl C would."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(LIMIT_S):
            return await self.process.wait()


async def gone(processes: list[psutil.Process]) -> None:
    """Waits until none of them runs."""
    alive = await asyncio.to_thread(lambda: psutil.wait_procs(processes, timeout=LIMIT_S)[1])
    assert not alive, [" ".join(p.cmdline()) for p in alive]
