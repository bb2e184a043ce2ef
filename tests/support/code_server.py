"""The real gateway and sessions in the test's own loop, with a model and a copy model that say what they are told."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from time import monotonic

from aiohttp import web

from offhook_app.transport.server_process import Endpoint
from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.core.copying import Guess
from offhook_server.gateway.app import runner
from offhook_server.gateway.services import Services
from offhook_server.gateway.session import Parts
from offhook_server.gateway.sessions import Sessions
from offhook_server.lanes.workspace import Workspace
from offhook_wire.messages import Limits, ServerStatus

TOKEN = "test-token"


class SayingModel:
    """Says `words` one by one; before word number `pause_at` it waits for `go`."""

    name = "saying"

    def __init__(self, *words: str, pause_at: int | None = None) -> None:
        self.words = list(words)
        self.pause_at = pause_at
        self.go = asyncio.Event()
        self.paused = asyncio.Event()
        self.stopped = asyncio.Event()
        self.requests: list[Generate] = []

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        self.requests.append(request)
        try:
            yield Progress(0, 1, 1, 0)
            for number, word in enumerate(self.words):
                if number == self.pause_at:
                    self.paused.set()
                    await self.go.wait()
                yield Delta(0, word)
            yield Finished(0, "stop", 1, 0, len(self.words))
        except (GeneratorExit, asyncio.CancelledError):
            self.stopped.set()
            raise


class SilentIndex:
    """A copy model that knows nothing, or the one thing it is given."""

    def __init__(self, guess: Guess | None = None) -> None:
        self.guess = guess
        self.documents: dict[str, str] = {}

    def open(self, root: Path | str) -> None:
        pass

    def document(self, name: str, text: str) -> None:
        self.documents[name] = text

    def close_document(self, name: str) -> None:
        self.documents.pop(name, None)

    async def ask(self, name: str, line: int, before: str, after_line: str, *, prompt_from: int | None) -> Guess | None:
        return self.guess


class CodeServer:
    """`async with` it. `endpoint()` makes it a transport.line_driver.Server."""

    def __init__(
        self,
        model: SayingModel | None,
        index: SilentIndex | None = None,
        port: int = 0,
        *,
        deep: SayingModel | None = None,
    ) -> None:
        self.model = model
        self.index = index or SilentIndex()
        self.port = port
        self.deep = deep
        self.parts = Parts(
            workspace=Workspace(self.index),
            small_model=lambda: self.model,
            deep_model=lambda: deep,
            fetch_model=lambda name: None,
            status=lambda: ServerStatus("ready" if self.model else "absent", "saying"),
            clock=monotonic,
            limits=Limits(),
        )

    async def __aenter__(self) -> "CodeServer":
        self.sessions = Sessions(self.parts)
        services = Services(
            models={"deep": self.deep} if self.deep else {},
            token=TOKEN,
            limits=Limits(),
            sessions=self.sessions,
            clock=monotonic,
            status=dict,
        )
        self._runner = runner(services)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sessions.close()
        await self._runner.cleanup()

    async def endpoint(self) -> Endpoint:
        return Endpoint(f"http://127.0.0.1:{self.port}/v1", TOKEN)
