"""What passes over the line, counted: bytes each way, and how far the server's clock is ahead. Not the line.

The server's clock is told from the pong that was fastest of the last few: at most half its round trip wrong.
"""

from collections import deque
from dataclasses import dataclass

from offhook_wire.messages import Pong

PONGS = 8


@dataclass(frozen=True, slots=True)
class LineFigures:
    """`server_ahead_ms` is None until a pong came."""

    bytes_up: int = 0
    bytes_down: int = 0
    server_ahead_ms: float | None = None


class LineMeter:
    """Written in one thread; `figures` may be read in any."""

    def __init__(self) -> None:
        self._up = self._down = 0
        self._server_ahead_ms: float | None = None
        self._pongs: deque[tuple[float, float]] = deque(maxlen=PONGS)  # round trip, ahead

    def sent(self, size_bytes: int) -> None:
        self._up += size_bytes

    def came(self, size_bytes: int) -> None:
        self._down += size_bytes

    def pong(self, pong: Pong, now_ms: float) -> None:
        trip_ms = (now_ms - pong.t0) - (pong.t2 - pong.t1)
        ahead_ms = ((pong.t1 - pong.t0) + (pong.t2 - now_ms)) / 2
        self._pongs.append((trip_ms, ahead_ms))
        self._server_ahead_ms = min(self._pongs)[1]

    def connected(self) -> None:
        """It may be another server, with another clock."""
        self._pongs.clear()
        self._server_ahead_ms = None

    @property
    def figures(self) -> LineFigures:
        return LineFigures(self._up, self._down, self._server_ahead_ms)
