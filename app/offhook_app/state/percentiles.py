"""Percentiles of a few hundred values, and the last of them kept. Not a histogram."""

from collections import deque
from collections.abc import Iterator, Sequence

KEPT = 200


def percentile(values: Sequence[float], share: float) -> float | None:
    """Nearest rank; None where nothing was measured."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Newest:
    """The last KEPT values of one figure."""

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=KEPT)

    def add(self, value: float) -> None:
        self._values.append(value)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[float]:
        return iter(self._values)

    @property
    def last(self) -> float | None:
        return self._values[-1] if self._values else None

    def at(self, share: float) -> float | None:
        return percentile(self._values, share)
