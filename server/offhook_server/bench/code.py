"""`offhook bench code`: how often what a model shows is right, by running it. Function bodies and holes in lines.

The caret stands where a task's solution was taken out; what the fast lane shows there (bench.ghost: its prompt, its stop
rules, at most six lines or 64 tokens) is put in and the task's check executed, in a process of its own with limits. A
pass is a check that ends without an error. Three arms:

    small    the 0.5B, which sees the open file alone
    deep     the 1.5B, asked in just the same way
    hybrid   the product: the copy model where it is sure, else the 0.5B with neighbours. The open folder
             holds the finished files of all other tasks, so this is a person's folder of small things

Arms alternate task by task, in a seeded order, on engines with their own large batches (a quarter faster; no time is
measured here). Where the machine is too slow for all of it within BUDGET_S the deep arm leaves tasks out, spread over
the whole run; its `n` says so. It is left out where its file is not on this machine.
"""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Literal, get_args

from offhook_server import settings
from offhook_server.backends.base import Model
from offhook_server.bench.code_child import Verdict
from offhook_server.bench.code_tasks import Kind, Task, judge, read_tasks
from offhook_server.bench.ghost import CopyModel, NoCopyModel, Place, ghost_at
from offhook_server.bench.held_out import HeldOut
from offhook_server.bench.report import Report, shown
from offhook_server.bench.stats import rate, rates_ratio
from offhook_server.errors import BackendError
from offhook_server.models.manifest import entry
from offhook_server.models.store import ensure
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

SMALL, DEEP = "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"
BUDGET_S = 1140.0
QUICK_BUDGET_S = 28.0
SEED = 1

Arm = Literal["small", "deep", "hybrid"]
Outcome = Verdict | Literal["empty"]
Outcomes = dict[Arm, Outcome]
Found = list[tuple[Task, Outcomes]]


@dataclass(frozen=True, slots=True)
class Models:
    small: Model
    deep: Model | None


async def run(quick: bool) -> Report:
    report = Report("code", quick)
    tasks = random.Random(SEED).sample(read_tasks(), k=len(read_tasks()))
    async with started() as models:
        tell(report, await measure(tasks, models, QUICK_BUDGET_S if quick else BUDGET_S))
    return report


@asynccontextmanager
async def started() -> AsyncIterator[Models]:
    folder = settings.load([]).models
    async with AsyncExitStack() as running:
        small = await _worker(running, await ensure(entry(SMALL), folder))
        known = entry(DEEP)
        here = (folder / known.file).exists()  # 1.1 GB are not fetched unasked
        yield Models(small, await _worker(running, await ensure(known, folder)) if here else None)


async def _worker(running: AsyncExitStack, file: Path) -> WorkerClient:
    worker = WorkerClient(WorkerSpec("llama", file, {"batch_tokens": None}))
    running.push_async_callback(worker.close)
    await worker.start()
    if await worker.settled() != "ready":
        raise BackendError(worker.detail)
    return worker


async def measure(tasks: Sequence[Task], models: Models, budget_s: float) -> Found:
    """Ends when `budget_s` are over, with fewer tasks."""
    began = perf_counter()
    found: Found = []
    with TemporaryDirectory() as folder:
        for task in tasks:
            (Path(folder) / _file(task)).write_text(task.file(task.reference), encoding="utf-8")
        index = HeldOut(Path(folder))
        for done, task in enumerate(tasks):
            spent_s = perf_counter() - began
            if spent_s > budget_s:
                break
            in_time = spent_s <= budget_s * (done + 1) / len(tasks)
            found.append((task, await outcomes(task, index, models, with_deep=in_time)))
    return found


async def outcomes(task: Task, index: HeldOut, models: Models, *, with_deep: bool) -> Outcomes:
    place = Place(_file(task), task.before, task.after)
    index.hide(place)
    alone = NoCopyModel()
    found: Outcomes = {"small": await _outcome(task, place, alone, models.small)}
    if models.deep and with_deep:
        found["deep"] = await _outcome(task, place, alone, models.deep)
    found["hybrid"] = await _outcome(task, place, index, models.small)
    return found


async def _outcome(task: Task, place: Place, copy_model: CopyModel, model: Model) -> Outcome:
    ghost = await ghost_at(place, copy_model, model)
    return await judge(task.program(ghost.text)) if ghost.text else "empty"


def _file(task: Task) -> str:
    return f"{task.name}.py"


def tell(report: Report, found: Found) -> None:
    for arm in get_args(Arm):
        for kind in get_args(Kind):
            passed = rate(_passed(found, arm, kind))
            report.figure(f"{arm}_{kind}_pass_rate", passed.share, passed.n)
    report.detail["rates"] = [_row(found, arm, kind) for arm in get_args(Arm) for kind in get_args(Kind)]
    report.detail["intervals_95"] = {}
    others: tuple[Arm, ...] = ("deep", "hybrid")
    for arm in others:
        both = [outcome for _, outcome in found if arm in outcome]
        ratio = rates_ratio(
            [each[arm] == "passed" for each in both], [each["small"] == "passed" for each in both], SEED
        )
        report.figure(f"{arm}_over_small", ratio.median, ratio.n)
        report.detail["intervals_95"][f"{arm}_over_small"] = [shown(ratio.low, ratio.n), shown(ratio.high, ratio.n)]
    report.detail["failures"] = [
        {"task": task.name, "kind": task.kind, **{arm: outcome.get(arm, "not run") for arm in get_args(Arm)}}
        for task, outcome in found
        if set(outcome.values()) != {"passed"}
    ]


def _passed(found: Found, arm: Arm, kind: Kind) -> list[bool]:
    return [outcome[arm] == "passed" for task, outcome in found if task.kind == kind and arm in outcome]


def _row(found: Found, arm: Arm, kind: Kind) -> dict[str, str | int | float | None]:
    passed = rate(_passed(found, arm, kind))
    low, high = passed.interval
    return {
        "arm": arm,
        "kind": kind,
        "passed": passed.hits,
        "n": passed.n,
        "rate": shown(passed.share, passed.n),
        "low_95": shown(low, passed.n),
        "high_95": shown(high, passed.n),
    }
