"""One engine of this machine: its file and its worker. Does what it is told and tells what became of it; decides nothing.

Loads and unloads are done one after the other, in the order in which they were wanted.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from msgspec import structs

from offhook_server.core.engines import FileState, WorkerState
from offhook_server.errors import UserError
from offhook_server.models import store
from offhook_server.models.manifest import ModelEntry
from offhook_server.models.worker_client import WorkerClient, WorkerSpec
from offhook_wire.messages import ModelStatus

SHARE_STEPS = 100  # a download tells of every hundredth


class Listener(Protocol):
    def filed(self, state: FileState, detail: str) -> None: ...

    def worker(self, state: WorkerState, detail: str) -> None: ...


class LocalModel:
    """`known` None: a file of the person's own, or an engine without one. `missing`: a sentence for when it isn't here.
    `share`: 0 to 1 of a download."""

    def __init__(self, name: str, spec: WorkerSpec, known: ModelEntry | None, missing: str, listener: Listener) -> None:
        self.name = name
        self.known = known
        self.share: float | None = None
        self._told: tuple[float, str] | None = None
        self.worker = WorkerClient(spec, name=name, on_change=self._on_worker)
        self._path = spec.model
        self._missing = missing
        self._listener = listener
        self._fetching: asyncio.Task[None] | None = None
        self._turns = asyncio.Lock()
        self._turn: asyncio.Task[None] | None = None

    @property
    def here(self) -> bool:
        return self._path is None or self._path.is_file()

    def described(self, status: ModelStatus) -> ModelStatus:
        """What there is to know of its file before it is fetched, and while it is."""
        if self.known is None or self._path is None:
            return status
        known, folder = self.known, str(self._path.parent)
        return structs.replace(
            status,
            share=self.share,
            size_bytes=known.size_bytes,
            licence=known.licence,
            source=known.source,
            folder=folder,
        )

    def look(self) -> None:
        """Tells whether the file is here."""
        if self.here:
            self._listener.filed("asleep", "")
        else:
            self._listener.filed("absent", self._missing)

    def load(self) -> None:
        if self.here:
            self._take_turn(self.worker.start)
        else:
            self._listener.filed("absent", self._missing)

    def unload(self) -> None:
        self._take_turn(self.worker.close)

    async def settled(self) -> None:
        """Waits until what was wanted has been begun."""
        if self._turn is not None:
            await asyncio.wait([self._turn])

    def fetch(self) -> None:
        """The person wants it. A second wish while it is on its way changes nothing."""
        if self.known is None:
            self.look()
        elif not self._fetching:
            self._fetching = asyncio.create_task(self._fetch(self.known), name=f"fetch {self.name}")
            self._listener.filed("downloading", "")

    def stop(self) -> None:
        """No more of the download; what has arrived is kept."""
        if self._fetching:
            self._fetching.cancel()

    async def close(self) -> None:
        if self._fetching:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])
        self.unload()
        await self.settled()

    def _take_turn(self, change: Callable[[], Awaitable[None]]) -> None:
        async def take() -> None:
            async with self._turns:
                await change()

        self._turn = asyncio.create_task(take(), name=f"engine {self.name}")

    def _on_worker(self) -> None:
        if self.worker.state != "absent":
            self._listener.worker(self.worker.state, self.worker.detail)

    async def _fetch(self, known: ModelEntry) -> None:
        assert self._path is not None
        complaint = ""
        try:
            with suppress(asyncio.CancelledError):
                await store.ensure(known, self._path.parent, self._tell)
        except UserError as e:
            complaint = str(e)
        finally:
            self._fetching = self.share = self._told = None
        if complaint:
            self._listener.filed("absent", complaint)
        else:
            self.look()

    def _tell(self, step: store.Step) -> None:
        told = (round(step.share * SHARE_STEPS) / SHARE_STEPS, step.words)
        if told != self._told:
            self.share, words = self._told = told
            self._listener.filed("downloading", words)
