"""`offhook bench line`: what a suggestion costs on the way, by five kinds of connection. The model is a stub.

overhead = request handed to the client → first output event, minus the stub's own time to its first token.

The key trace is replayed key by key, a request each; the gap between two keys is the trace's, at most LONGEST_GAP_MS
(longer silence would only cost those that send the whole context: their congestion windows shrink). Arms alternate in
blocks of BLOCK_KEYS, in a random order in each, and every arm of a block replays the same keys: those are the pairs.
The first key of each block is asked but not counted, as the arm's connection was idle while the others ran.
"""

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import trustme

from offhook_server.bench.line_clients import ARMS, Arm, Place
from offhook_server.bench.line_servers import TTFT_MS, Servers, Started
from offhook_server.bench.link import Counted, Link
from offhook_server.bench.report import Report, shown
from offhook_server.bench.stats import median, p95, paired_ratio
from offhook_server.bench.trace import Document, Key, Step, read_keys

CONTEXTS_BYTES = (2_000, 8_000, 30_000, 60_000)
LINKS_MS = (0, 50, 100)
HEADLINE = (60_000, 50)
SMALL = (2_000, 50)
BLOCK_KEYS = 10
BLOCKS = 3
HEADLINE_BLOCKS = 12
QUICK_BLOCKS = 2
LONGEST_GAP_MS = 150
ANSWER_S = 30.0
SEED = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """One cell of the grid: how much context over which link, and who runs in it for how long."""

    context_bytes: int
    rtt_ms: int
    blocks: int
    arms: Sequence[str] = tuple(ARMS)
    block_keys: int = BLOCK_KEYS


@dataclass(slots=True)
class Lane:
    """One arm in one cell: its connection and what was measured of it."""

    arm: Arm
    port: int
    opening: Counted = field(default_factory=Counted)
    keys: int = 0
    overhead_ms: list[float] = field(default_factory=list)
    carried: Counted = field(default_factory=Counted)  # opening included

    @property
    def up_bytes_per_key(self) -> float:
        return (self.carried.up_bytes - self.opening.up_bytes) / self.keys


Cell = dict[str, Lane]


@dataclass(frozen=True, slots=True)
class Rig:
    """The processes a cell is measured between."""

    link: Link
    started: Started
    authority: trustme.CA

    async def lane(self, name: str, rtt_ms: int) -> Lane:
        port = await self.link.open(rtt_ms, self.started.http2_port if name == "http2" else self.started.port)
        tls = ssl.create_default_context()
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
        self.authority.configure_trust(tls)
        return Lane(ARMS[name](Place(port, self.started.token, tls)), port)


@asynccontextmanager
async def rig() -> AsyncIterator[Rig]:
    authority = trustme.CA()
    with TemporaryDirectory() as folder:
        pem = Path(folder) / "server.pem"
        authority.issue_cert("127.0.0.1", "localhost").private_key_and_cert_chain_pem.write_to_path(pem)
        async with Servers() as servers, Link() as link:
            yield Rig(link, await servers.start(str(pem)), authority)


async def measure(plan: Plan, rig: Rig, keys: list[Key]) -> Cell:
    document = Document(keys, plan.context_bytes)
    cell = {name: await rig.lane(name, plan.rtt_ms) for name in plan.arms}
    order = random.Random(SEED)
    async with AsyncExitStack() as opened:
        for lane in cell.values():
            await lane.arm.open(document)
            opened.push_async_callback(lane.arm.close)
            lane.opening = await rig.link.counted(lane.port)
        steps = document.steps()
        for _ in range(plan.blocks):
            block = list(islice(steps, 1 + plan.block_keys))
            for name in order.sample(plan.arms, len(plan.arms)):
                await replay(block, cell[name])
        for lane in cell.values():
            lane.carried = await rig.link.counted(lane.port)
    return cell


async def replay(block: list[Step], lane: Lane) -> None:
    for number, step in enumerate(block):
        await asyncio.sleep(min(step.gap_ms, LONGEST_GAP_MS) / 1e3)
        async with asyncio.timeout(ANSWER_S):
            taken_ms = await lane.arm.ask(step)
        lane.keys += 1
        if number:
            lane.overhead_ms.append(taken_ms)


def plans(quick: bool) -> Iterator[Plan]:
    if quick:
        yield Plan(*HEADLINE, QUICK_BLOCKS)
        yield Plan(*SMALL, QUICK_BLOCKS, ("fresh_https", "ws_delta"))
        return
    for context_bytes in CONTEXTS_BYTES:
        for rtt_ms in LINKS_MS:
            told = (context_bytes, rtt_ms) in (HEADLINE, SMALL)
            yield Plan(context_bytes, rtt_ms, HEADLINE_BLOCKS if told else BLOCKS)


async def run(quick: bool) -> Report:
    report = Report("line", quick)
    keys = read_keys()
    async with rig() as running:
        cells = {(plan.context_bytes, plan.rtt_ms): await measure(plan, running, keys) for plan in plans(quick)}
    tell(report, cells)
    return report


def tell(report: Report, cells: dict[tuple[int, int], Cell]) -> None:
    """The figures of the two told cells, and the whole grid for `detail`."""
    headline, small = cells[HEADLINE], cells[SMALL]
    for name, lane in headline.items():
        report.figure(f"{name}.overhead_ms_p50", median(lane.overhead_ms), len(lane.overhead_ms))
    report.detail["intervals_95"] = {}
    _saved(report, "saved_vs_fresh", headline, "fresh_https")
    _saved(report, "saved_vs_keepalive", headline, "keepalive")
    _saved(report, "saved_vs_fresh_2kB", small, "fresh_https")
    delta, keepalive = headline["ws_delta"], headline["keepalive"]
    report.figure("bytes_up_per_key_ratio", delta.up_bytes_per_key / keepalive.up_bytes_per_key, delta.keys)
    report.detail |= {
        "trace": "keytrace.jsonl: made by a seeded typing model, not recorded from a person",
        "stub_ttft_ms": TTFT_MS,
        "longest_gap_ms": LONGEST_GAP_MS,
        "block_keys": BLOCK_KEYS,
        "grid": [_row(place, name, lane) for place, cell in cells.items() for name, lane in cell.items()],
    }


def _saved(report: Report, key: str, cell: Cell, baseline: str) -> None:
    ratio = paired_ratio(cell["ws_delta"].overhead_ms, cell[baseline].overhead_ms, SEED)
    report.figure(key, 1 - ratio.median, ratio.n)
    report.detail["intervals_95"][key] = [shown(1 - ratio.high, ratio.n), shown(1 - ratio.low, ratio.n)]


def _row(place: tuple[int, int], name: str, lane: Lane) -> dict[str, int | float | str | None]:
    n = len(lane.overhead_ms)
    return {
        "context_bytes": place[0],
        "rtt_ms": place[1],
        "arm": name,
        "overhead_ms_p50": shown(median(lane.overhead_ms), n),
        "overhead_ms_p95": shown(p95(lane.overhead_ms), n),
        "n": n,
        "up_bytes_per_key": round(lane.up_bytes_per_key),
        "opening_up_bytes": lane.opening.up_bytes,
        "connections": lane.carried.connections,
    }
