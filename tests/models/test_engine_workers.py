"""Both engines as real worker processes with the null engine: asleep, loading, killed, short of memory, one at the other's
side. What a request is told is always words, and the next one is served."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from offhook_server.backends.base import Delta, Finished, Generate, Model, Piece, Progress
from offhook_server.core import engines as core
from offhook_server.core.engines import ROLES, Role, Rules, State, Surroundings
from offhook_server.errors import BackendError
from offhook_server.models.engines import Engines, Report
from offhook_server.models.local import LocalModel
from offhook_server.models.worker_client import WorkerSpec

pytestmark = pytest.mark.loopback

LIMIT_S = 30.0
POLL_S = 0.005
GB = 1_000_000_000
FOR_EVER = {"load_ms": 1e9}


class Rig:
    """Two engines; `free_bytes` is what the gauge shows, `states` what they went through."""

    def __init__(self, rules: dict[Role, Rules], options: dict[Role, dict[str, Any]], files: dict[Role, Path]) -> None:
        self.free_bytes = 16.0 * GB
        self.states: dict[Role, list[State]] = {role: [] for role in ROLES}
        self._options = options
        self._files = files
        self._came = asyncio.Event()
        machine = core.Engines(rules)
        self.engines = Engines(machine, self._model, self._changed, look=lambda: Surroundings(self.free_bytes))

    def _model(self, role: Role, report: Report) -> LocalModel:
        spec = WorkerSpec("null", self._files.get(role), self._options.get(role, {}))
        return LocalModel(role, spec, None, "It is not here; fetch it.", report)

    def _changed(self) -> None:
        for role in ROLES:
            if self.states[role][-1:] != [self.engines.state(role)]:
                self.states[role].append(self.engines.state(role))
        self._came.set()

    async def until(self, role: Role, state: State) -> None:
        async with asyncio.timeout(LIMIT_S):
            while self.engines.state(role) != state:
                self._came.clear()
                await self._came.wait()

    async def pid(self, role: Role) -> int:
        """Of its process, once there is one."""
        model = self.engines.models[role]
        assert isinstance(model, LocalModel)
        worker = model.worker

        def spawned() -> int:
            for _ in range(int(LIMIT_S / POLL_S)):
                if worker.pid is not None:
                    return worker.pid
                threading.Event().wait(POLL_S)
            raise LookupError(role)

        return await asyncio.to_thread(spawned)


Start = Callable[..., Rig]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    rigs: list[Rig] = []

    def start(
        fast: Rules | None = None,
        deep: Rules | None = None,
        options: dict[Role, dict[str, Any]] | None = None,
        files: dict[Role, Path] | None = None,
    ) -> Rig:
        rig = Rig({"fast": fast or Rules("fast"), "deep": deep or Rules("deep")}, options or {}, files or {})
        rigs.append(rig)
        rig.engines.start()
        return rig

    yield start
    for rig in rigs:
        await rig.engines.close()


def say(text: str, max_tokens: int = 256) -> Generate:
    return Generate(0, messages=[{"role": "user", "content": text}], max_tokens=max_tokens)


async def read(model: Model, request: Generate) -> tuple[str, Finished]:
    text = ""
    async with asyncio.timeout(LIMIT_S), aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Delta):
                text += piece.text
            if isinstance(piece, Finished):
                return text, piece
    raise AssertionError("a stream without an end")


# -- asleep, and awake ------------------------------------------------------------------------------------------------


async def test_a_request_wakes_the_engine_and_waits(start: Start) -> None:
    rig = start()
    assert (await read(rig.engines.fast, say("[[say: here]]")))[0] == "here"
    assert rig.states["fast"] == ["asleep", "starting", "ready"]
    assert rig.engines.state("deep") == "asleep"


async def test_an_idle_engine_ends_its_process_and_comes_back(start: Start) -> None:
    rig = start(fast=Rules("fast", idle_s=0.05))
    await read(rig.engines.fast, say("hello"))
    await rig.until("fast", "asleep")
    assert (await read(rig.engines.fast, say("[[say: back]]")))[0] == "back"


async def test_a_request_that_is_given_up_while_the_engine_loads_does_not_stop_it(start: Start) -> None:
    rig = start()
    task = asyncio.create_task(read(rig.engines.fast, say("hello")))
    await rig.until("fast", "starting")
    task.cancel()
    await asyncio.wait([task])
    await rig.until("fast", "ready")


async def test_a_model_without_a_file_says_so_and_is_there_when_the_file_is(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    rig = start(files={"fast": path})
    assert rig.engines.small() is None
    with pytest.raises(BackendError, match="fetch it"):
        await read(rig.engines.fast, say("hello"))
    path.touch()
    rig.engines.fetch("fast")
    assert (await read(rig.engines.fast, say("[[say: here]]")))[0] == "here"


async def test_a_file_that_went_while_the_engine_slept_is_missed_with_words(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.touch()
    rig = start(files={"fast": path})
    path.unlink()
    with pytest.raises(BackendError, match="offhook models fetch"):
        await read(rig.engines.fast, say("hello"))
    assert rig.engines.state("fast") == "absent"


# -- the one never waits for the other --------------------------------------------------------------------------------


async def test_the_fast_lane_answers_while_the_deep_engine_loads(start: Start) -> None:
    rig = start(options={"deep": FOR_EVER})
    waiting = asyncio.create_task(read(rig.engines.deep_lane, say("hello")))
    await rig.until("deep", "starting")
    for _ in range(3):
        assert (await read(rig.engines.fast, say("[[say: at once]]")))[0] == "at once"
    assert rig.engines.state("deep") == "starting"
    waiting.cancel()
    await asyncio.wait([waiting])


async def test_the_fast_lane_answers_while_the_deep_engine_speaks_without_end(start: Start) -> None:
    rig = start()
    async with aclosing(rig.engines.deep_lane.stream(say("[[say: on]][[hang]]"))) as speaking:
        await anext(speaking)
        for _ in range(3):
            assert (await read(rig.engines.fast, say("[[say: at once]]")))[0] == "at once"
    assert await rig.pid("fast") != await rig.pid("deep")


# -- memory -----------------------------------------------------------------------------------------------------------


async def test_with_little_memory_the_fast_engine_answers_the_deep_lane(start: Start) -> None:
    rig = start(deep=Rules("deep", floor_bytes=6 * GB), options={"deep": FOR_EVER})
    rig.free_bytes = 5.0 * GB
    assert (await read(rig.engines.deep_lane, say("[[say: small]]")))[0] == "small"
    assert rig.engines.notice == "Only 5.0 GB of memory are free and deep asks for 6.0 GB: fast answers in its place."
    with pytest.raises(BackendError, match="Close something and ask again"):
        await read(rig.engines.deep, say("hello"))
    assert "starting" not in rig.states["deep"]


async def test_when_memory_is_wanted_elsewhere_the_deep_engine_goes(start: Start) -> None:
    rig = start(deep=Rules("deep", floor_bytes=6 * GB))
    await read(rig.engines.deep_lane, say("hello"))
    rig.free_bytes = 1.0 * GB
    assert (await read(rig.engines.deep_lane, say("[[say: small]]")))[0] == "small"
    assert rig.engines.state("deep") == "asleep"


# -- killed -----------------------------------------------------------------------------------------------------------


both = pytest.mark.parametrize("role", ROLES)


def lane(rig: Rig, role: Role) -> Model:
    return rig.engines.fast if role == "fast" else rig.engines.deep_lane


@both
async def test_killed_while_it_loads_it_is_started_again_and_the_request_is_answered(start: Start, role: Role) -> None:
    rig = start(options={role: {"load_ms": 300.0}})
    asked = asyncio.create_task(read(lane(rig, role), say("[[say: late]]")))
    os.kill(await rig.pid(role), signal.SIGKILL)
    assert (await asked)[0] == "late"


@both
@pytest.mark.parametrize(
    ("text", "awaited"),
    [("[[prefill_ms: 1000000]]", Progress), ("[[say: half]][[hang]]", Delta)],
    ids=["prompt", "text"],
)
async def test_killed_in_the_middle_the_request_may_be_repeated(
    start: Start, role: Role, text: str, awaited: type[Piece]
) -> None:
    rig = start()

    async def read_and_kill() -> None:
        async with aclosing(lane(rig, role).stream(say(text))) as pieces:
            async for piece in pieces:
                if isinstance(piece, awaited):
                    os.kill(await rig.pid(role), signal.SIGKILL)

    with pytest.raises(BackendError, match="ask again") as caught:
        await read_and_kill()
    assert caught.value.retryable
    assert (await read(lane(rig, role), say("[[say: back]]")))[0] == "back"


@both
async def test_an_engine_that_dies_thrice_is_left_alone_and_the_other_goes_on(start: Start, role: Role) -> None:
    rig = start()
    for _ in range(3):
        with pytest.raises(BackendError, match="ended"):
            await read(rig.engines.fast if role == "fast" else rig.engines.deep, say("[[crash]]"))
    await rig.until(role, "failed")
    with pytest.raises(BackendError, match="again and again"):
        await read(rig.engines.fast if role == "fast" else rig.engines.deep, say("hello"))
    other = rig.engines.deep if role == "fast" else rig.engines.fast
    assert (await read(other, say("[[say: I am well]]")))[0] == "I am well"
    if role == "deep":
        assert (await read(rig.engines.deep_lane, say("[[say: in its place]]")))[0] == "in its place"


# -- without end ------------------------------------------------------------------------------------------------------


async def test_endless_output_stops_at_the_most_tokens(start: Start) -> None:
    rig = start()
    _, finished = await read(rig.engines.deep_lane, say("[[tokens: 100000]]", max_tokens=50))
    assert (finished.reason, finished.output_tokens) == ("length", 50)


async def test_endless_output_stops_by_a_cancel(start: Start) -> None:
    rig = start()
    async with aclosing(rig.engines.deep_lane.stream(say("[[tokens: 100000]][[token_ms: 5]]", 100_000))) as pieces:
        async for piece in pieces:
            if isinstance(piece, Delta):
                break
    assert (await read(rig.engines.deep_lane, say("[[say: free]]")))[0] == "free"


# -- what it costs ----------------------------------------------------------------------------------------------------


async def test_what_the_workers_cost_is_counted_and_not_forgotten_when_they_end(start: Start) -> None:
    rig = start(fast=Rules("fast", idle_s=0.05))
    before = rig.engines.usage({})
    await read(rig.engines.fast, say("hello"))
    await read(rig.engines.deep, say("hello"))
    running = rig.engines.usage({"index": None})
    assert "deep" in [one.name for one in running.models]
    assert all(one.rss_mb > 1 for one in running.models)
    assert running.cpu_s > before.cpu_s
    await rig.until("fast", "asleep")
    await rig.engines.close()
    after = rig.engines.usage({})
    assert after.models == []
    assert after.cpu_s >= running.cpu_s - 0.1
