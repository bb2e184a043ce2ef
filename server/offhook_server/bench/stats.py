"""Medians, percentiles, rates and paired ratios of measured samples. Knows nothing of what was measured."""

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000
BLOCK_RESAMPLES = 500  # of thousands of values each
Z_95 = 1.96  # of the normal distribution, both sides


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
    """The middle of `n` pairs (see who made it) and where it lies with 95 % confidence."""

    median: float
    low: float
    high: float
    n: int


def paired_ratio(tops: Sequence[float], bottoms: Sequence[float], seed: int = 0) -> Ratio:
    """Ratio of each pair, the median of them, and a seeded percentile bootstrap over the pairs (Efron 1979).

    Raises ValueError when the two are not of one length.
    """
    return _middle([top / bottom for top, bottom in zip(tops, bottoms, strict=True)], seed)


def paired_difference(tops: Sequence[float], bottoms: Sequence[float], seed: int = 0) -> Ratio:
    """The same of what the one is more than the other. Raises ValueError when the two are not of one length."""
    return _middle([top - bottom for top, bottom in zip(tops, bottoms, strict=True)], seed)


def _middle(values: Sequence[float], seed: int) -> Ratio:
    draw = random.Random(seed)
    medians = [median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    return Ratio(median(values), percentile(medians, 0.025), percentile(medians, 0.975), len(values))


def p95_difference(tops: Sequence[Sequence[float]], bottoms: Sequence[Sequence[float]], seed: int = 0) -> Ratio:
    """How much higher the 95th percentile of all tops is; both come in blocks that alternated, and blocks are what is drawn.

    `n` counts the values of the smaller side. Raises ValueError when there are not as many blocks of both.
    """
    pairs = list(zip(tops, bottoms, strict=True))
    draw = random.Random(seed)
    drawn = sorted(_p95_apart(draw.choices(pairs, k=len(pairs))) for _ in range(BLOCK_RESAMPLES))
    n = min(sum(map(len, tops)), sum(map(len, bottoms)))
    return Ratio(_p95_apart(pairs), percentile(drawn, 0.025), percentile(drawn, 0.975), n)


def _p95_apart(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    top, bottom = ([value for block in blocks for value in block] for blocks in zip(*pairs, strict=True))
    return p95(top) - p95(bottom)


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `n` and where the share lies with 95 % confidence (Wilson 1927)."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """Zero where there was nothing to hit."""
        return self.hits / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        if not self.n:
            return 0.0, 1.0
        squared = Z_95**2 / self.n
        middle = (self.share + squared / 2) / (1 + squared)
        half = Z_95 / (1 + squared) * math.sqrt(self.share * (1 - self.share) / self.n + squared / self.n / 4)
        return max(0.0, min(self.share, middle - half)), min(1.0, max(self.share, middle + half))


def rate(hits: Sequence[bool]) -> Rate:
    return Rate(sum(hits), len(hits))


def rates_ratio(tops: Sequence[bool], bottoms: Sequence[bool], seed: int = 0) -> Ratio:
    """How many times more often the one hits than the other, on the same places; seeded bootstrap over the places.

    `n` is 0 (and the figures mean nothing) when the other never hits. Raises ValueError when the two are not of one length.
    """
    pairs = list(zip(tops, bottoms, strict=True))
    if not any(bottoms):
        return Ratio(0.0, 0.0, 0.0, 0)
    draw = random.Random(seed)
    drawn = [_hits(draw.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES)]
    ratios = [top / bottom for top, bottom in drawn if bottom]
    return Ratio(sum(tops) / sum(bottoms), percentile(ratios, 0.025), percentile(ratios, 0.975), len(pairs))


def _hits(pairs: Sequence[tuple[bool, bool]]) -> tuple[int, int]:
    return sum(top for top, _ in pairs), sum(bottom for _, bottom in pairs)
