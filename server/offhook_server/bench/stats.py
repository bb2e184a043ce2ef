"""Medians, percentiles and paired ratios of measured samples. Knows nothing of what was measured."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value `share` (0 to 1) of all lie at or under, between two neighbours in proportion (NumPy's `linear`)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def p95(values: Sequence[float]) -> float:
    return percentile(values, 0.95)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median of `n` paired ratios and where it lies with 95 % confidence."""

    median: float
    low: float
    high: float
    n: int


def paired_ratio(tops: Sequence[float], bottoms: Sequence[float], seed: int = 0) -> Ratio:
    """Ratio of each pair, the median of them, and a seeded percentile bootstrap over the pairs (Efron 1979).

    Raises ValueError when the two are not of one length.
    """
    ratios = [top / bottom for top, bottom in zip(tops, bottoms, strict=True)]
    draw = random.Random(seed)
    medians = [median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES)]
    return Ratio(median(ratios), percentile(medians, 0.025), percentile(medians, 0.975), len(ratios))
