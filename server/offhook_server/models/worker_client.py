"""The server's end of one model worker: starts it, restarts it, streams requests through it. Knows no engine.

    absent ◀─ no file ─ start() ─▶ starting ─ Ready ─▶ ready
                                      ▲                  │ the process ended, or is silent
                                      └─── a delay ──────┘
                                      │ the engine cannot load, or the process ends before it is ready, twice
                                      └─▶ failed           start() tries again

The worker ends by itself when our end of the socket closes, so a killed server leaves none behind.
"""

import asyncio
import contextlib
import json
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from offhook_server.backends.base import (
    Call,
    Cancel,
    Delta,
    Failed,
    Finished,
    FromWorker,
    Generate,
    Hello,
    Piece,
    Progress,
    Ready,
    ToWorker,
)
from offhook_server.errors import BackendError
from offhook_server.models.inbox import Inbox, Item
from offhook_server.models.restarts import Restarts
from offhook_wire import reentry
from offhook_wire.frames import FrameTooLong, Unpacker, pack

State = Literal["absent", "starting", "ready", "failed"]

READ_BYTES = 64 * 1024
MOST_IN_FLIGHT = 64
LOAD_LIMIT_S = 120.0
HELLO_EVERY_S = 5.0
SILENCE_LIMIT_S = 30.0  # nothing at all was heard, not even an answer to Hello
END_LIMIT_S = 5.0

NO_FILE = (
    "The model is not on this machine yet; `offhook models fetch NAME` fetches it, `offhook models list` names it."
)
DIED = "The model's process ended; a new one is being started, so ask again."
DIED_LOADING = (
    "The model's process ended while it loaded; the machine may be short of memory. Close something and try again."
)
DIED_OFTEN = (
    "The model's process ended again and again; it is not started for now. Ask again in a minute, or use another model."
)
CLOSED = "The server is stopping."


@dataclass(frozen=True)
class WorkerSpec:
    """`options` are keyword arguments of the engine, plain JSON values. `niceness` lowers its priority."""

    engine: str
    model: Path | None = None
    options: dict[str, Any] = field(default_factory=dict)
    niceness: int = 5

    def command(self, fd: int) -> list[str]:
        command = reentry.command("offhook_server.models.worker", "--fd", str(fd))
        command += ["--engine", self.engine, "--nice", str(self.niceness), "--options", json.dumps(self.options)]
        return command + (["--model", str(self.model)] if self.model else [])


class WorkerClient:
    """`counters`: starts, crashes, killed, refused, joined. `on_change` is called after `state` or `detail` changed."""

    def __init__(self, spec: WorkerSpec, *, name: str = "fast", on_change: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self.state: State = "absent"
        self.detail = NO_FILE
        self.ready: Ready | None = None
        self.counters: Counter[str] = Counter()
        self._spec = spec
        self._on_change = on_change
        self._ids = count(1)
        self._inboxes: dict[int, Inbox] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._load_error = ""
        self._settled = asyncio.Event()
        self._settled.set()
        self._supervisor: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def in_flight(self) -> int:
        return len(self._inboxes)

    async def start(self) -> None:
        """Starts the worker, or starts over after `absent` or `failed`; does not wait until it is ready."""
        await self._end()
        if self._spec.model is not None and not self._spec.model.is_file():
            self._become("absent", NO_FILE)
            return
        self._become("starting")
        self._supervisor = asyncio.create_task(self._supervise(), name=f"worker {self.name}")

    async def settled(self) -> State:
        """Waits while the state is `starting`."""
        while self.state == "starting":
            await self._settled.wait()
        return self.state

    async def close(self) -> None:
        await self._end()
        self._become("absent", CLOSED)

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished, None]:
        """See `base.Model`; the id of the request is ours to give. A request that comes while the worker starts waits.

        Use it in `contextlib.aclosing`, or the Cancel is sent only when the garbage collector finds the iterator.
        """
        await self.settled()
        if self.state != "ready":
            raise BackendError(self.detail)
        if self.in_flight >= MOST_IN_FLIGHT:
            self.counters["refused"] += 1
            raise BackendError("The model has too many requests waiting; ask again.", retryable=True)
        number = next(self._ids)
        inbox = self._inboxes[number] = Inbox()
        self._send(msgspec.structs.replace(request, id=number))
        finished = False
        try:
            while not finished:
                piece = await inbox.get()
                finished = isinstance(piece, Finished)
                yield piece
        finally:
            self.counters["joined"] += inbox.joined
            if self._inboxes.pop(number, None) and not finished:
                self._send(Cancel(number))

    def _send(self, message: ToWorker) -> None:
        if self._writer is not None:
            self._writer.write(pack(message))

    def _become(self, state: State, detail: str = "") -> None:
        if state == "starting":
            self._settled.clear()
        else:
            self._settled.set()
        self.state, self.detail = state, detail
        self._on_change()

    async def _end(self) -> None:
        if self._supervisor is not None:
            self._supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._supervisor
            self._supervisor = None
        self._fail_all(BackendError(CLOSED))

    async def _supervise(self) -> None:
        restarts = Restarts()
        while True:
            ready_for_s = await self._one_life()
            delay_s = None if self._load_error else restarts.ended(ready_for_s)
            if delay_s is None:
                self._become("failed", self._load_error or (DIED_LOADING if ready_for_s is None else DIED_OFTEN))
                self._fail_all(BackendError(self.detail))
                return
            self.counters["crashes"] += 1
            self._become("starting")
            self._fail_all(BackendError(DIED, retryable=True))
            await asyncio.sleep(delay_s)

    async def _one_life(self) -> float | None:
        """One process from start to end; seconds it was ready for, None when it never was."""
        loop = asyncio.get_running_loop()
        self.ready, self._load_error = None, ""
        ready_at: float | None = None
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                reader, self._writer = await asyncio.open_connection(sock=ours)
                self._process = await self._spawn(theirs.fileno())
            self.counters["starts"] += 1
            async for message in self._messages(reader):
                if isinstance(message, Ready) and ready_at is None:
                    ready_at = loop.time()
                    self.ready = message
                    self._become("ready")
                self._on_message(message)
        finally:
            await self._bury(ours)
        return None if ready_at is None else loop.time() - ready_at

    async def _spawn(self, fd: int) -> asyncio.subprocess.Process:
        null = asyncio.subprocess.DEVNULL
        return await asyncio.create_subprocess_exec(
            *self._spec.command(fd), pass_fds=(fd,), stdin=null, stdout=null, stderr=null, start_new_session=True
        )

    async def _messages(self, reader: asyncio.StreamReader) -> AsyncGenerator[FromWorker, None]:
        """Ends when the worker does, talks nonsense, or is silent for too long."""
        loop = asyncio.get_running_loop()
        unpacker = Unpacker(cast("type[FromWorker]", FromWorker))
        heard_at = loop.time()
        while True:
            try:
                async with asyncio.timeout(HELLO_EVERY_S):
                    data = await reader.read(READ_BYTES)
                if not data:
                    return
                heard_at = loop.time()
                for message in unpacker.feed(data):
                    yield message
            except TimeoutError:
                if loop.time() - heard_at > (SILENCE_LIMIT_S if self.ready else LOAD_LIMIT_S):
                    return
                self._send(Hello())
            except (ConnectionError, FrameTooLong, msgspec.DecodeError):
                return

    def _on_message(self, message: FromWorker) -> None:
        match message:
            case Ready():
                pass
            case Failed():
                self._on_failed(message)
            case Progress() | Delta() | Call() | Finished():
                self._deliver(message.id, message)

    def _on_failed(self, message: Failed) -> None:
        if message.id is None:
            self._load_error = message.message
        else:
            self._deliver(message.id, BackendError(message.message, retryable=message.retryable))

    def _deliver(self, number: int, item: Item) -> None:
        if inbox := self._inboxes.get(number):  # none: it was cancelled, and the worker had not heard yet
            inbox.put(item)

    def _fail_all(self, error: BackendError) -> None:
        for inbox in self._inboxes.values():
            inbox.put(error)
        self._inboxes.clear()

    async def _bury(self, ours: socket.socket) -> None:
        """Closing our end tells the worker to go; one that does not is killed."""
        if self._writer is not None:
            self._writer.transport.abort()
            self._writer = None
        ours.close()
        if self._process is not None:
            try:
                async with asyncio.timeout(END_LIMIT_S):
                    await self._process.wait()
            except TimeoutError:
                self.counters["killed"] += 1
                self._process.kill()
                await self._process.wait()
            self._process = None
