"""What a key costs, from totals that are looked at now and then: bytes on the line, CPU seconds. Not the looking.

Over the keys of the last looks, at least WINDOW_KEYS of them once there were so many.
"""

from collections import deque
from dataclasses import dataclass

WINDOW_KEYS = 100
LEAST_KEYS = 20  # fewer say nothing


@dataclass(frozen=True, slots=True)
class Totals:
    """Since whenever; `server_cpu_s` is None while the server has not told."""

    keys: int
    bytes_up: int
    bytes_down: int
    app_cpu_s: float
    server_cpu_s: float | None = None


def _began_anew(before: Totals, now: Totals) -> bool:
    """The server told for the first time, or it is another one."""
    if now.server_cpu_s is None:
        return before.server_cpu_s is not None
    return before.server_cpu_s is None or now.server_cpu_s < before.server_cpu_s


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one key. `cpu_s` is the app's and the server's together, None while only one of them is known."""

    keys: int
    bytes_up: float
    bytes_down: float
    app_cpu_s: float
    server_cpu_s: float | None

    @property
    def cpu_s(self) -> float | None:
        return None if self.server_cpu_s is None else self.app_cpu_s + self.server_cpu_s


class PerKey:
    def __init__(self) -> None:
        self._looks: deque[Totals] = deque()

    def look(self, totals: Totals) -> None:
        if self._looks and _began_anew(self._looks[-1], totals):
            self._looks.clear()
        if len(self._looks) > 1 and totals.keys == self._looks[-1].keys:
            self._looks.pop()
        self._looks.append(totals)
        while len(self._looks) > 2 and totals.keys - self._looks[1].keys >= WINDOW_KEYS:
            self._looks.popleft()

    def look_away(self) -> None:
        self._looks.clear()

    @property
    def cost(self) -> Cost | None:
        """None until there were LEAST_KEYS keys."""
        if not self._looks:
            return None
        first, last = self._looks[0], self._looks[-1]
        keys = last.keys - first.keys
        if keys < LEAST_KEYS:
            return None
        server = None
        if first.server_cpu_s is not None and last.server_cpu_s is not None:
            server = (last.server_cpu_s - first.server_cpu_s) / keys
        return Cost(
            keys,
            (last.bytes_up - first.bytes_up) / keys,
            (last.bytes_down - first.bytes_down) / keys,
            (last.app_cpu_s - first.app_cpu_s) / keys,
            server,
        )
