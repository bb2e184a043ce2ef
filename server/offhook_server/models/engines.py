"""The two engines of this server, as the lanes see them. Performs what core.engines decides, and reads the gauges for it.

A request for an engine that is asleep loads it and waits; one that can't be served fails with words.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic
from typing import assert_never

from offhook_server.backends.base import Finished, Generate, Model, Piece
from offhook_server.backends.remote import RemoteModel
from offhook_server.core import engines as core
from offhook_server.core.engines import Action, FileState, Load, Role, Surroundings, Unload, WorkerState
from offhook_server.models import guest
from offhook_server.models.local import LocalModel
from offhook_wire.messages import ModelStatus, Usage

LOOK_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Report:
    """Tells the engines what became of one of them (local.Listener)."""

    engines: "Engines"
    role: Role

    def filed(self, state: FileState, detail: str) -> None:
        self.engines.filed(self.role, state, detail)

    def worker(self, state: WorkerState, detail: str) -> None:
        self.engines.worker(self.role, state, detail)


class Engine:
    """One of them, as a base.Model. The deep `lane` is answered by the fast one where the machine says so."""

    def __init__(self, engines: "Engines", role: Role, name: str, *, lane: bool = False) -> None:
        self.name = name
        self._engines = engines
        self._role: Role = role
        self._lane = lane

    async def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        role = self._engines.answering() if self._lane else self._role
        model = self._engines.ask(role)
        whole = False
        try:
            await self._engines.loading(role)
            async with aclosing(model.stream(request)) as pieces:
                async for piece in pieces:
                    whole = isinstance(piece, Finished)
                    yield piece
        finally:
            self._engines.answered(role, whole=whole)


class Engines:
    """`models`: what is behind each role, told to whom it reports. `changed` is called after the state of one, or what is
    held back, has changed."""

    def __init__(
        self,
        machine: core.Engines,
        models: Callable[[Role, Report], LocalModel | RemoteModel],
        changed: Callable[[], None],
        *,
        look: Callable[[], Surroundings] = guest.surroundings,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.models: dict[Role, LocalModel | RemoteModel] = {
            role: models(role, Report(self, role)) for role in core.ROLES
        }
        self.fast = Engine(self, "fast", self.models["fast"].name)
        self.deep = Engine(self, "deep", self.models["deep"].name)
        self.deep_lane = Engine(self, "deep", "deep", lane=True)
        self._machine = machine
        self._changed = changed
        self._look = look
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._notice = ""

    @property
    def notice(self) -> str:
        return self._machine.notice

    @property
    def automatic(self) -> bool:
        """Whether a decode that nobody asked for may run."""
        return self._machine.automatic

    def state(self, role: Role) -> core.State:
        return self._machine.state(role)

    def status(self, role: Role) -> ModelStatus:
        model = self.models[role]
        told = ModelStatus(model.name, role, self._machine.state(role), detail=self._machine.detail(role))
        return model.described(told) if isinstance(model, LocalModel) else told

    def start(self) -> None:
        for model in self._local():
            model.look()
        self._read_gauges()

    async def close(self) -> None:
        await asyncio.gather(*(model.close() for model in self.models.values()))
        if self._timer:
            self._timer.cancel()

    # -- what is wanted ----------------------------------------------------------------------------------------------

    def small(self) -> Model | None:
        """The model for suggestions, if there is one that works."""
        return self.fast if self._machine.serves("fast", self._clock()) else None

    def warm(self, role: Role) -> None:
        self._perform(self._machine.warm(role, self._clock()))

    def quiet(self, on: bool) -> None:
        self._machine.quiet(on)
        self._perform([])

    def fetch(self, name: str) -> None:
        """The person wants the model of this name here, and working."""
        for role, model in self.models.items():
            if isinstance(model, LocalModel) and name == model.name and self.state(role) in ("absent", "failed"):
                model.fetch()

    def stop(self, name: str) -> None:
        for model in self._local():
            if name == model.name:
                model.stop()

    def usage(self, others: Mapping[str, int | None]) -> Usage:
        """Of the workers, and of the processes in `others`."""
        pids = {model.name: model.worker.pid for model in self._local()} | dict(others)
        return guest.usage({name: pid for name, pid in pids.items() if pid is not None})

    # -- a request, told by Engine -----------------------------------------------------------------------------------

    def answering(self) -> Role:
        self._read_gauges()
        return self._machine.deep_lane(self._clock())

    def ask(self, role: Role) -> Model:
        """Raises BackendError when it can't be served."""
        if self.state(role) not in ("starting", "ready"):
            self._read_gauges()
        self._perform(self._machine.ask(role, self._clock()))
        model = self.models[role]
        return model.worker if isinstance(model, LocalModel) else model

    async def loading(self, role: Role) -> None:
        """Waits until its worker has been started, if it has to be."""
        model = self.models[role]
        if isinstance(model, LocalModel):
            await model.settled()

    def answered(self, role: Role, *, whole: bool) -> None:
        self._perform(self._machine.done(role, self._clock(), well=whole))

    # -- what became of them, told by Report ---------------------------------------------------------------------------

    def filed(self, role: Role, state: FileState, detail: str) -> None:
        self._perform(self._machine.filed(role, state, detail, self._clock()))
        self._changed()

    def worker(self, role: Role, state: WorkerState, detail: str) -> None:
        self._perform(self._machine.worker(role, state, detail, self._clock()))
        self._changed()

    # -- the driver: perform all actions, then sleep until the deadline -------------------------------------------------

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            model = self.models[action.role]
            assert isinstance(model, LocalModel)
            match action:
                case Load():
                    model.load()
                case Unload():
                    model.unload()
                case _:
                    assert_never(action)
        if actions or self._machine.notice != self._notice:
            self._notice = self._machine.notice
            self._changed()
        if self._timer:
            self._timer.cancel()
        delay_s = min(LOOK_EVERY_S, self._machine.deadline - self._clock())
        self._timer = asyncio.get_running_loop().call_later(max(0.0, delay_s), self._read_gauges)

    def _read_gauges(self) -> None:
        self._perform(self._machine.look(self._look(), self._clock()))

    def _local(self) -> list[LocalModel]:
        return [model for model in self.models.values() if isinstance(model, LocalModel)]
