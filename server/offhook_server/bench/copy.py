"""`offhook bench copy`: how often the rest of a half-typed line is foreseen, by the copy model, the 0.5B, and both.

On PLACES lines of each of four installed packages, drawn by a seed, the caret stands after half of the line's tokens, as
if the file ended there: what follows in that file is hidden from everybody, all other files are indexed. "exact" means
that what is shown is the rest of that line, all of it and no more, trailing blanks aside.

    copy_exact_rate             the copy model's best guess, sure or not
    copy_shown_rate             how often it is sure enough to be shown (core.copying.confident)
    copy_confident_exact_rate   of those
    small_exact_rate            the 0.5B without an index: it knows the open file alone
    small_near_exact_rate       the 0.5B with neighbours (core.neighbours), as the product asks it
    hybrid_exact_rate           the product: the copy model's text where it is sure, else the 0.5B with neighbours

The first three are of the worst package; the others of DECODED places, a quarter from each package, or of as many as
fit into the time. `small_near` needs decodes of its own where the copy model is sure; they come last, and where the time
is over by then it is not reported. All that decodes goes through the fast lane (bench.ghost), on an engine with its own
large batches, which is a quarter faster; no time is measured here. A decode is cut off once what it said can no longer
be exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from time import perf_counter

from offhook_server import settings
from offhook_server.backends.base import Model
from offhook_server.bench.copy_places import HalfLine, half_lines, package_folder
from offhook_server.bench.ghost import NeighboursOnly, NoCopyModel, ghost_at
from offhook_server.bench.held_out import HeldOut
from offhook_server.bench.report import Report, shown
from offhook_server.bench.stats import Rate, median, p95, rate, rates_ratio
from offhook_server.core.copying import confident
from offhook_server.errors import BackendError
from offhook_server.models.manifest import entry
from offhook_server.models.store import ensure
from offhook_server.models.worker_client import WorkerClient, WorkerSpec

MODEL = "qwen2.5-coder-0.5b"
PACKAGES = ("httpx", "asyncio", "numpy.lib", "pip._internal")
PLACES = 300
QUICK_PLACES = 40
DECODED = 200
BUDGET_S = 1110.0  # for decoding; what does not fit is not measured, and `n` says so
QUICK_BUDGET_S = 20.0
SEED = 1


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    index: HeldOut
    places: list[HalfLine]


@dataclass(slots=True)
class CopyFound:
    """Of one package, place by place."""

    exact: list[bool]
    sure: list[bool]
    ask_ms: list[float]

    @property
    def sure_exact(self) -> list[bool]:
        return [exact for exact, sure in zip(self.exact, self.sure, strict=True) if sure]


@dataclass(slots=True)
class Decoded:
    """What was exact at one place. `small_near` None: not asked."""

    package: Package
    half: HalfLine
    copy_sure: bool
    small: bool
    hybrid: bool
    small_near: bool | None


async def run(quick: bool) -> Report:
    report = Report("copy", quick)
    count = QUICK_PLACES if quick else PLACES
    packages = [Package(name, HeldOut(package_folder(name)), half_lines(name, count, SEED)) for name in PACKAGES]
    tell_copied(report, packages, [copied(package) for package in packages])
    file = await ensure(entry(MODEL), settings.load([]).models)
    worker = WorkerClient(WorkerSpec("llama", file, {"batch_tokens": None}))
    await worker.start()
    try:
        if await worker.settled() != "ready":
            raise BackendError(worker.detail)
        tell_decoded(report, await decoded(packages, worker, QUICK_BUDGET_S if quick else BUDGET_S))
    finally:
        await worker.close()
    return report


def copied(package: Package) -> CopyFound:
    """The copy model alone at every place."""
    found = CopyFound([], [], [])
    for half in package.places:
        package.index.hide(half.place)
        began = perf_counter()
        guess = package.index.guess(half.place.line, half.before, after_line="")
        found.ask_ms.append((perf_counter() - began) * 1e3)
        found.exact.append(guess is not None and half.exact(guess.text))
        found.sure.append(guess is not None and confident(guess))
    return found


async def decoded(packages: list[Package], model: Model, budget_s: float) -> list[Decoded]:
    """The arms at one place after the other, package by package in turn."""
    end = perf_counter() + budget_s
    found: list[Decoded] = []
    for package, half in _in_turn(packages):
        if perf_counter() > end:
            break
        found.append(await _at(package, half, model))
    for each in found:
        if each.small_near is None and perf_counter() < end:
            await _ask_near(each, model)
    return found


def _in_turn(packages: list[Package]) -> Iterator[tuple[Package, HalfLine]]:
    each = DECODED // len(packages)
    turns = zip(*([(package, place) for place in package.places[:each]] for package in packages), strict=True)
    return chain.from_iterable(turns)


async def _at(package: Package, half: HalfLine, model: Model) -> Decoded:
    place = half.place
    package.index.hide(place)
    alone = await ghost_at(place, NoCopyModel(), model, half.missed)
    hybrid = await ghost_at(place, package.index, model, half.missed)
    return Decoded(
        package,
        half,
        copy_sure=not hybrid.asked_small,
        small=half.exact(alone.text),
        hybrid=half.exact(hybrid.text),
        small_near=half.exact(hybrid.texts.get("small", "")) if hybrid.asked_small else None,
    )


async def _ask_near(decoded: Decoded, model: Model) -> None:
    index, half = decoded.package.index, decoded.half
    index.hide(half.place)
    near = await ghost_at(half.place, NeighboursOnly(index), model, half.missed)
    decoded.small_near = half.exact(near.text)


def tell_copied(report: Report, packages: list[Package], found: list[CopyFound]) -> None:
    rates = {
        "copy_exact_rate": [rate(each.exact) for each in found],
        "copy_shown_rate": [rate(each.sure) for each in found],
        "copy_confident_exact_rate": [rate(each.sure_exact) for each in found],
    }
    for key, of_packages in rates.items():
        worst = min(of_packages, key=lambda each: each.share)
        report.figure(key, worst.share, worst.n)
    report.detail["packages"] = [
        {
            "package": package.name,
            "files": package.index.files,
            "n": len(package.places),
            "exact_rate": _told(exact),
            "shown_rate": _told(sure),
            "n_shown": sure_exact.n,
            "confident_exact_rate": _told(sure_exact),
            "ask_ms_p50": round(median(each.ask_ms), 2),
            "ask_ms_p95": round(p95(each.ask_ms), 2),
        }
        for package, each, exact, sure, sure_exact in zip(packages, found, *rates.values(), strict=True)
    ]


def tell_decoded(report: Report, found: list[Decoded]) -> None:
    small, hybrid = [each.small for each in found], [each.hybrid for each in found]
    near = _all_near(found)
    for arm, hits in (("small", small), ("small_near", near), ("hybrid", hybrid)):
        report.figure(f"{arm}_exact_rate", rate(hits).share, len(hits))
    report.detail["intervals_95"] = {}
    for arm, hits in (("small", small), ("small_near", near)):
        ratio = rates_ratio(hybrid[: len(hits)], hits, SEED)
        report.figure(f"hybrid_over_{arm}", ratio.median, ratio.n)
        report.detail["intervals_95"][f"hybrid_over_{arm}"] = [shown(ratio.low, ratio.n), shown(ratio.high, ratio.n)]
    report.detail["decoded"] = [
        {
            "package": name,
            "n": len(of_package),
            "copy_sure": sum(each.copy_sure for each in of_package),
            "small": _told(rate([each.small for each in of_package])),
            "small_near": _told(rate(_all_near(of_package))),
            "hybrid": _told(rate([each.hybrid for each in of_package])),
        }
        for name in (*PACKAGES, "all")
        for of_package in [[each for each in found if name in (each.package.name, "all")]]
    ]


def _all_near(found: list[Decoded]) -> list[bool]:
    """Nothing where some were not asked: those that were are the ones at which the copy model knew nothing."""
    near = [each.small_near for each in found if each.small_near is not None]
    return near if len(near) == len(found) else []


def _told(found: Rate) -> str | None:
    """`0.30 (0.25-0.35)`: a share and its 95 % interval; None of too few."""
    low, high = found.interval
    return None if shown(found.share, found.n) is None else f"{found.share:.2f} ({low:.2f}-{high:.2f})"
