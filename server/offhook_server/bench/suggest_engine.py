"""The server's side of the suggest bench, a process of its own: the real gateway, index and worker, and a way past them.

`Direct` asks the worker what the pipeline asked it before, word for word, so that only the way there differs.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from secrets import token_hex

import msgspec
from aiohttp import web

from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.bench.process import Child, answer_lines
from offhook_server.errors import BackendError
from offhook_server.gateway import app
from offhook_server.gateway.services import Services
from offhook_server.gateway.session import Parts
from offhook_server.gateway.sessions import Sessions
from offhook_server.lanes.workspace import Workspace
from offhook_server.models.index_client import IndexClient
from offhook_server.models.worker_client import WorkerClient, WorkerSpec
from offhook_wire.messages import Limits, ServerStatus


class Start(msgspec.Struct, tag=True):
    """`model` None: the null engine."""

    model: str | None


class Remember(msgspec.Struct, tag=True):
    """What the pipeline asked last is called `name` from now on."""

    name: str


class Direct(msgspec.Struct, tag=True):
    """Ask the worker `name`, until its first token."""

    name: str


class Empty(msgspec.Struct, tag=True):
    """Nothing of before is cached in this slot any more, and the engine rests."""

    slot: int


class Last(msgspec.Struct, tag=True):
    """What was counted of the pipeline's last request."""


class Started(msgspec.Struct):
    port: int
    token: str


class Taken(msgspec.Struct):
    """`first_ms`: request handed over → first token. `number` counts the pipeline's requests."""

    first_ms: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    number: int = 0


Question = Start | Remember | Direct | Empty | Last


class Engine(Child):
    """The parent's side."""

    module = "offhook_server.bench.suggest_engine"

    async def start(self, model: Path | None) -> Started:
        return await self.ask(Start(str(model) if model else None), Started)

    async def remember(self, name: str) -> None:
        await self.ask(Remember(name), Taken)

    async def direct(self, name: str) -> Taken:
        return await self.ask(Direct(name), Taken)

    async def empty(self, slot: int) -> None:
        await self.ask(Empty(slot), Taken)

    async def last(self) -> Taken:
        return await self.ask(Last(), Taken)


class Tap:
    """The worker as the pipeline sees it, with an ear on what is asked."""

    name = "tap"

    def __init__(self, worker: WorkerClient) -> None:
        self.worker = worker
        self.request: Generate | None = None
        self.seen = Taken()
        self.remembered: dict[str, Generate] = {}

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        self.request = request
        self.seen = Taken(number=self.seen.number + 1)
        async with aclosing(self.worker.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Progress):
                    self.seen.prompt_tokens, self.seen.cached_tokens = piece.total, piece.cached
                yield piece

    def remember(self, name: str) -> None:
        assert self.request is not None
        self.remembered[name] = self.request

    async def direct(self, name: str) -> Taken:
        taken = Taken()
        began = time.perf_counter()
        async with aclosing(self.worker.stream(self.remembered[name])) as pieces:
            async for piece in pieces:
                if isinstance(piece, Progress):
                    taken.prompt_tokens, taken.cached_tokens = piece.total, piece.cached
                if isinstance(piece, Delta):
                    taken.first_ms = (time.perf_counter() - began) * 1e3
                    return taken
        raise BackendError("The engine said nothing where it spoke before; run the bench again.")

    async def empty(self, slot: int) -> None:
        request = Generate(0, prompt="x", max_tokens=1, temperature=0.0, slot=slot)
        async with aclosing(self.worker.stream(request)) as pieces:
            async for _ in pieces:
                pass


class Rig:
    """All of it, once started."""

    def __init__(self, running: AsyncExitStack) -> None:
        self._running = running
        self._tap: Tap | None = None

    async def answer(self, asked: Question) -> msgspec.Struct:
        if isinstance(asked, Start):
            return await self._start(asked)
        assert self._tap is not None
        match asked:
            case Remember(name=name):
                self._tap.remember(name)
            case Direct(name=name):
                return await self._tap.direct(name)
            case Empty(slot=slot):
                await self._tap.empty(slot)
            case Last():
                return self._tap.seen
        return Taken()

    async def _start(self, asked: Start) -> Started:
        spec = WorkerSpec("llama", Path(asked.model)) if asked.model else WorkerSpec("null")
        worker = WorkerClient(spec)
        self._running.push_async_callback(worker.close)
        await worker.start()
        if await worker.settled() != "ready":
            raise BackendError(worker.detail)
        index = await IndexClient.start(None)
        self._running.push_async_callback(index.close)
        tap = self._tap = Tap(worker)
        parts = Parts(
            workspace=Workspace(index),
            small_model=lambda: tap,
            fetch_model=lambda name: None,
            status=lambda: ServerStatus("ready", tap.name),
            clock=time.monotonic,
            limits=Limits(),
        )
        services = Services(
            models={"fast": tap},
            token=token_hex(16),
            limits=Limits(),
            sessions=Sessions(parts),
            clock=time.monotonic,
            status=dict,
        )
        runner = app.runner(services)
        await runner.setup()
        self._running.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return Started(runner.addresses[0][1], services.token)


async def serve() -> None:
    async with AsyncExitStack() as running:
        await answer_lines(msgspec.json.Decoder(Question), Rig(running).answer)


if __name__ == "__main__":
    asyncio.run(serve())
