"""Servers for clients that block: a gateway with a scripted model in a thread, and the whole server in a process."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web
from openai import InternalServerError, OpenAI

from offhook_server.gateway.app import runner
from offhook_server.gateway.services import Services, SessionFactory
from offhook_wire.messages import Limits
from support.scripted_model import ScriptedModel

TOKEN = "sk-test-token"
LIMIT_S = 20.0


@dataclass(frozen=True)
class RunningServer:
    base_url: str
    token: str


class InProcessServer(threading.Thread):
    def __init__(self, limits: Limits, sessions: SessionFactory | None) -> None:
        super().__init__(name="gateway")
        self.model = ScriptedModel()
        self.port = 0
        self.leftovers: list[str] = []
        self.unhandled: list[dict[str, Any]] = []
        models = {"fast": self.model, "deep": self.model, "scripted": self.model}
        self.services = Services(models, TOKEN, limits, sessions, time.monotonic, lambda: {"status": "ok"})
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def token(self) -> str:
        return TOKEN

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(lambda _, context: self.unhandled.append(context))
        apps = runner(self.services)
        await apps.setup()
        site = web.TCPSite(apps, "127.0.0.1", 0)
        await site.start()
        self.port = apps.addresses[0][1]
        self._ready.set()
        await self._end.wait()
        await apps.cleanup()
        self.leftovers = [repr(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    def begin(self) -> None:
        self.start()
        assert self._ready.wait(LIMIT_S)

    def stop(self) -> None:
        if self._loop and self._end and self.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
        self.join(LIMIT_S)
        assert not self.is_alive()


class NullServer:
    """`offhook serve --engine null` as a child process, ready to answer."""

    def __init__(self, runtime: Path) -> None:
        command = [sys.executable, "-m", "offhook_server", "serve", "--json", "--engine", "null", "--runtime"]
        self._process = subprocess.Popen([*command, str(runtime)], stdout=subprocess.PIPE)

    def __enter__(self) -> RunningServer:
        assert self._process.stdout
        said = json.loads(self._process.stdout.readline())
        with OpenAI(base_url=said["base_url"], api_key=said["token"], max_retries=0) as client:
            while not self._answers(client):
                threading.Event().wait(0.05)
        return RunningServer(said["base_url"], said["token"])

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        assert self._process.wait(LIMIT_S) == 0
        assert self._process.stdout
        self._process.stdout.close()

    @staticmethod
    def _answers(client: OpenAI) -> bool:
        """Its engine is up, too."""
        try:
            client.responses.create(model="fast", input="hello")
        except InternalServerError:
            return False
        return True


StartServer = Callable[..., InProcessServer]
