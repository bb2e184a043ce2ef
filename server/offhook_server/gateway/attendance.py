"""Whether anyone is here. A server that an app started ends some time after its last client left. Not a health check."""

import asyncio
from collections.abc import Callable
from types import TracebackType


class Attendance:
    """Entered for the length of every request and every WebSocket. `left` is called once, `linger_s` after the last."""

    def __init__(self, linger_s: float | None, left: Callable[[], None]) -> None:
        self._linger_s = linger_s
        self._left = left
        self._present = 0
        self._timer: asyncio.TimerHandle | None = None
        self._wait()

    def __enter__(self) -> None:
        self._present += 1
        if self._timer:
            self._timer.cancel()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._present -= 1
        if not self._present:
            self._wait()

    def _wait(self) -> None:
        if self._linger_s is not None:
            self._timer = asyncio.get_running_loop().call_later(self._linger_s, self._left)
