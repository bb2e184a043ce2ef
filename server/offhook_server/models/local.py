"""The one small model of this machine: its file and its worker, seen as one thing with one state.

absent ──fetch──▶ downloading ──▶ starting ──▶ ready          a worker that died: starting again, by itself
   ▲                  │ failed, with the mending sentence     a file that can't be loaded: failed
   └──────────────────┘
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from offhook_server.backends.base import Model
from offhook_server.errors import UserError
from offhook_server.models import store
from offhook_server.models.manifest import entry
from offhook_server.models.worker_client import WorkerClient, WorkerSpec
from offhook_wire.messages import ModelState

SMALL = "qwen2.5-coder-0.5b"
SHARE_STEPS = 100  # a download tells of every hundredth


class LocalModel:
    """`path` None: the built-in model of `folder`. `share` is 0 to 1 of a download, `detail` a sentence."""

    def __init__(
        self, engine: Literal["llama", "null"], path: Path | None, folder: Path, changed: Callable[[], None]
    ) -> None:
        self.name = path.stem if path else SMALL if engine == "llama" else engine
        self.share: float | None = None
        self._engine = engine
        self._folder = folder
        self._changed = changed
        self._known = entry(SMALL)
        self._path = path
        self._fetching: asyncio.Task[None] | None = None
        self._complaint = ""
        self.worker = self._new_worker()

    def _new_worker(self) -> WorkerClient:
        path = None if self._engine == "null" else self._path or self._folder / self._known.file
        return WorkerClient(WorkerSpec(self._engine, path), name=self.name, on_change=self._changed)

    @property
    def state(self) -> ModelState:
        return "downloading" if self._fetching else self.worker.state

    @property
    def detail(self) -> str:
        if self.state == "absent" and not self._complaint:
            size_mb = self._known.size_bytes // 1_000_000
            return f"{self.name}: {size_mb} MB, {self._known.licence}, kept in {self._folder}."
        return self._complaint or self.worker.detail

    @property
    def ready(self) -> Model | None:
        return self.worker if self.worker.state == "ready" else None

    async def start(self) -> None:
        await self.worker.start()

    def fetch(self, name: str) -> None:
        """The person wants it. A second wish while it is on its way changes nothing."""
        if name == self.name and self._path is None and not self._fetching and self.worker.state != "ready":
            self._complaint = ""
            self._fetching = asyncio.create_task(self._fetch(), name="fetch model")
            self._changed()

    async def _fetch(self) -> None:
        try:
            await store.ensure(self._known, self._folder, self._tell)
        except UserError as e:
            self._complaint = str(e)
        finally:
            self._fetching, self.share = None, None
        if not self._complaint:
            await self.worker.start()
        self._changed()

    def _tell(self, step: store.Step) -> None:
        share = round(step.share * SHARE_STEPS) / SHARE_STEPS
        if share != self.share:
            self.share = share
            self._changed()

    async def close(self) -> None:
        if self._fetching:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])
        await self.worker.close()
