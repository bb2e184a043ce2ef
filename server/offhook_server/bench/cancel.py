"""How soon a cancelled engine serves the next request, and what small batches cost. Real model, real worker.

A chain of requests on the keystrokes' slot, each with a cold prompt of 600 tokens: at a random moment the one that runs
is cancelled and the next is sent in the same breath. Two ends are timed from the cancel on: the engine takes up the
next request (its first progress report, sent when its first batch is about to be evaluated), which is
`cancel_*_ms_p95`; and that batch is done, which is `cancel_*_batch_done_ms_p95`.

Between the blocks of the chain a second worker with the engine's default batch evaluates a cold prompt of its own, to be
paired with the block's own whole prompt.
"""

import argparse
import asyncio
import inspect
import random
from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from offhook_server import settings
from offhook_server.backends.base import Delta, Finished, Generate, Piece, Progress
from offhook_server.backends.llama import BATCH_TOKENS
from offhook_server.bench.report import Report
from offhook_server.bench.stats import median, p95, paired_ratio
from offhook_server.errors import BackendError
from offhook_server.models.manifest import entry
from offhook_server.models.store import ensure
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

MODEL = "qwen2.5-coder-0.5b"
PROMPT_CHARACTERS = 2600  # about 600 tokens of Python
MOST_TOKENS = 64
BLOCKS = 20
PREFILL_CANCELS_PER_BLOCK = 9  # and one while it decodes
QUICK_BUDGET_S = 30.0
LONGEST_DECODE_S = 0.6  # a cancel in the text comes this late at most

Seen = Callable[[Piece | Finished], bool]


class Prompts:
    """Cold ones: real Python from a random place, under a first line that never comes twice."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._source = inspect.getsource(argparse)

    def next(self) -> Generate:
        start = self._random.randrange(len(self._source) - PROMPT_CHARACTERS)
        prompt = f"# {self._random.random()}\n{self._source[start : start + PROMPT_CHARACTERS]}"
        return Generate(0, prompt=prompt, max_tokens=MOST_TOKENS, temperature=0.0, slot=0)


class Running:
    """A request under way, with the moment at which each piece arrived."""

    def __init__(self, client: WorkerClient, request: Generate) -> None:
        self.pieces: list[tuple[float, Piece | Finished]] = []
        self._came = asyncio.Event()
        self._reading = asyncio.create_task(self._read(client, request))

    async def _read(self, client: WorkerClient, request: Generate) -> None:
        async with aclosing(client.stream(request)) as stream:
            async for piece in stream:
                self.pieces.append((perf_counter(), piece))
                self._came.set()

    async def when(self, seen: Seen) -> float:
        """The moment of the first such piece. Raises BackendError when the request ends without one."""
        looked_at = 0
        while True:
            for at, piece in self.pieces[looked_at:]:
                if seen(piece):
                    return at
            looked_at = len(self.pieces)
            if self._reading.done():
                self._reading.result()
                raise BackendError("The request ended early; run the bench again.")
            self._came.clear()
            coming = asyncio.create_task(self._came.wait())
            await asyncio.wait({coming, self._reading}, return_when=asyncio.FIRST_COMPLETED)
            coming.cancel()

    async def ended_within(self, seconds: float) -> bool:
        await asyncio.wait({self._reading}, timeout=seconds)
        return self._reading.done()

    def cancel(self) -> float:
        at = perf_counter()
        self._reading.cancel()
        return at

    @property
    def decoding(self) -> bool:
        return any(isinstance(piece, Delta) for _, piece in self.pieces)

    def gaps_ms(self, kind: type[Piece]) -> list[float]:
        """Between neighbours of a kind: batches for Progress, tokens for Delta."""
        times = [at for at, piece in self.pieces if isinstance(piece, kind)]
        return [(after - before) * 1000 for before, after in pairwise(times)]

    def prefill_tokens_per_s(self) -> float:
        progress = [(at, piece) for at, piece in self.pieces if isinstance(piece, Progress)]
        (start, first), (end, last) = progress[0], progress[-1]
        return (last.done - first.done) / (end - start)


def taken_up(piece: Piece | Finished) -> bool:
    return isinstance(piece, Progress)


def batch_done(piece: Piece | Finished) -> bool:
    return isinstance(piece, Progress) and piece.done > piece.cached


def whole_prompt(piece: Piece | Finished) -> bool:
    return isinstance(piece, Progress) and piece.done == piece.total


def first_token(piece: Piece | Finished) -> bool:
    return isinstance(piece, Delta)


class Chain:
    """Cancels the request that runs, sends the next, and keeps what that took."""

    def __init__(self, client: WorkerClient, prompts: Prompts, seed: int) -> None:
        self._client = client
        self._prompts = prompts
        self._random = random.Random(seed)
        self._current = self._send()
        self.taken_up_ms: dict[str, list[float]] = {"prefill": [], "decode": []}
        self.batch_done_ms: dict[str, list[float]] = {"prefill": [], "decode": []}
        self.batch_ms: list[float] = []
        self.token_ms: list[float] = []
        self.prompt_tokens: list[int] = []
        self.ended_first = 0

    def _send(self) -> Running:
        return Running(self._client, self._prompts.next())

    async def cancel_in_prefill(self) -> None:
        await self._current.when(batch_done)
        await self._cancel_within(median(self.batch_ms or [0.0]) / 1000 * self._batches_left())

    async def cancel_in_decode(self) -> float:
        """Tokens a second of the whole prompt before it."""
        await self._current.when(first_token)
        speed = self._current.prefill_tokens_per_s()
        await self._cancel_within(LONGEST_DECODE_S)
        return speed

    def _batches_left(self) -> int:
        progress = next(piece for _, piece in reversed(self._current.pieces) if isinstance(piece, Progress))
        self.prompt_tokens.append(progress.total)
        return (progress.total - progress.done) // BATCH_TOKENS

    async def _cancel_within(self, longest_s: float) -> None:
        victim = self._current
        if await victim.ended_within(self._random.uniform(0, longest_s)):
            self.ended_first += 1
            self._current = self._send()
            return
        phase = "decode" if victim.decoding else "prefill"
        cancelled_at = victim.cancel()
        self._current = self._send()
        self.taken_up_ms[phase].append((await self._current.when(taken_up) - cancelled_at) * 1000)
        self.batch_done_ms[phase].append((await self._current.when(batch_done) - cancelled_at) * 1000)
        self.batch_ms += victim.gaps_ms(Progress)
        self.token_ms += victim.gaps_ms(Delta)

    async def pause(self) -> None:
        """Leaves the machine to somebody else."""
        self._current.cancel()
        await self._current.ended_within(QUICK_BUDGET_S)

    def go_on(self) -> None:
        self._current = self._send()


async def _started(model: Path, batch_tokens: int | None) -> WorkerClient:
    client = WorkerClient(WorkerSpec("llama", model, {"batch_tokens": batch_tokens}))
    await client.start()
    if await client.settled() != "ready":
        raise BackendError(client.detail)
    return client


async def _speed(client: WorkerClient, prompts: Prompts) -> float:
    running = Running(client, prompts.next())
    await running.when(whole_prompt)
    running.cancel()
    await running.ended_within(QUICK_BUDGET_S)
    return running.prefill_tokens_per_s()


async def run(quick: bool) -> Report:
    report = Report("cancel", quick)
    model = await ensure(entry(MODEL), settings.load([]).models)
    ours, default = await _started(model, BATCH_TOKENS), await _started(model, None)
    try:
        await measure(report, ours, default)
    finally:
        await ours.close()
        await default.close()
    return report


async def measure(report: Report, ours: WorkerClient, default: WorkerClient) -> None:
    prompts = Prompts(seed=1)
    chain = Chain(ours, prompts, seed=2)
    our_speeds: list[float] = []
    default_speeds: list[float] = []
    began = perf_counter()
    for _ in range(1 if report.quick else BLOCKS):
        for _ in range(PREFILL_CANCELS_PER_BLOCK):
            if report.quick and perf_counter() - began > QUICK_BUDGET_S / 3:
                break
            await chain.cancel_in_prefill()
        our_speeds.append(await chain.cancel_in_decode())
        await chain.pause()
        default_speeds.append(await _speed(default, prompts))
        chain.go_on()
    await chain.pause()
    _fill(report, chain, our_speeds, default_speeds)


def _fill(report: Report, chain: Chain, our_speeds: list[float], default_speeds: list[float]) -> None:
    for phase in ("decode", "prefill"):
        n = len(chain.taken_up_ms[phase])
        report.figure(f"cancel_{phase}_ms_p95", p95(chain.taken_up_ms[phase] or [0.0]), n)
        report.figure(f"cancel_{phase}_batch_done_ms_p95", p95(chain.batch_done_ms[phase] or [0.0]), n)
        report.detail[f"cancel_{phase}_ms_p50"] = round(median(chain.taken_up_ms[phase] or [0.0]), 1)
    report.figure("engine_token_ms_p50", median(chain.token_ms or [0.0]), len(chain.token_ms))
    report.figure("engine_batch_ms_p50", median(chain.batch_ms or [0.0]), len(chain.batch_ms))
    ratio = paired_ratio(our_speeds, default_speeds)
    report.figure("prefill_speed_ratio", ratio.median, ratio.n)
    report.detail |= {
        "prefill_speed_ratio_95": [round(ratio.low, 3), round(ratio.high, 3)],
        "batch_tokens": BATCH_TOKENS,
        "prompt_tokens_p50": median(chain.prompt_tokens or [0]),
        "tokens_per_s_p50": {"ours": round(median(our_speeds), 1), "default": round(median(default_speeds), 1)},
        "ended_before_the_cancel": chain.ended_first,
    }
