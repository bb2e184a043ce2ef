"""Whose turn it is on one connection: which response starts, waits or stops. Not the responses themselves.

                      slot free and lane free
    submit ─▶ waiting ───────────────────────▶ running ── ended(history) ─▶ latest of its lane
                 │                                │  └─── ended(None) ────▶ its parent is forgotten, if it was
                 │ cancel                         │ cancel                  the latest of the same lane
                 ▼                                ▼
        starts in its turn, cancelled      Stop, then ended as any other

A lane is first in, first out and never overlaps; lanes run side by side, `limits.in_flight` at most over all of them.
The latest response of every lane is the connection's own memory: what `previous_response_id` finds without a store.
A cancelled one that still waits starts and ends in its turn, so that a client that counts answers stays in step.
"""

import re
from dataclasses import dataclass
from typing import Any

from offhook_server.core.conversation import History
from offhook_server.errors import PeerError
from offhook_wire.messages import Limits

MOST_WAITING = 64
_STREAM_ID = re.compile(r"[A-Za-z0-9_.-]{1,256}")


@dataclass(frozen=True, slots=True)
class Start:
    """`parent` is None where nothing is continued, or where only a store may know it."""

    response_id: str
    parent: History | None
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    response_id: str


@dataclass(slots=True)
class _Turn:
    response_id: str
    lane: str | None
    parent_id: str | None
    running: bool = False
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class _Latest:
    response_id: str
    history: History


def not_found(response_id: str) -> PeerError:
    return PeerError(
        f"Previous response with id '{response_id}' not found.",
        code="previous_response_not_found",
        param="previous_response_id",
    )


def lane_of(stream_id: Any) -> str | None:
    """None is the default lane. Raises PeerError."""
    if stream_id is None or (isinstance(stream_id, str) and _STREAM_ID.fullmatch(stream_id)):
        return stream_id
    raise PeerError(
        "Invalid 'stream_id': use 1 to 256 letters, digits, '_', '-' and '.'.",
        code="invalid_stream_id",
        param="stream_id",
    )


class Lanes:
    def __init__(self, limits: Limits, most_waiting: int = MOST_WAITING) -> None:
        self._limits = limits
        self._most_waiting = most_waiting
        self._turns: dict[str, _Turn] = {}  # in the order they were submitted
        self._named: set[str] = set()
        self._latest: dict[str | None, _Latest] = {}

    def submit(self, response_id: str, lane: str | None, parent_id: str | None) -> list[Start]:
        """Raises PeerError where the connection has no room for it."""
        if lane is not None and lane not in self._named and len(self._named) >= self._limits.lanes:
            raise PeerError(
                f"Responses websocket stream limit reached ({self._limits.lanes} streams). Use one of the open streams.",
                code="websocket_stream_limit_reached",
                param="stream_id",
            )
        if sum(not turn.running for turn in self._turns.values()) >= self._most_waiting:
            raise PeerError(
                f"{self._most_waiting} responses wait already on this connection. Wait for some of them to end.",
                code="rate_limit_exceeded",
                status=429,
            )
        if lane is not None:
            self._named.add(lane)
        self._turns[response_id] = _Turn(response_id, lane, parent_id)
        return self._start()

    def ended(self, response_id: str, history: History | None) -> list[Start]:
        """`history` None: it failed, and cannot be continued."""
        turn = self._turns.pop(response_id)
        if history is None:
            self.refused(turn.lane, turn.parent_id)
        else:
            self._latest[turn.lane] = _Latest(response_id, history)
        return self._start()

    def refused(self, lane: str | None, parent_id: str | None) -> None:
        """A continuation failed: on the parent's own lane that forgets the parent, from another lane it does not."""
        latest = self._latest.get(lane)
        if latest is not None and latest.response_id == parent_id:
            del self._latest[lane]

    def cancel(self, response_id: str | None, lane: str | None) -> list[Stop]:
        """The newest unfinished one that fits what is given. Nothing fits: it has just ended, which is no fault."""
        for turn in reversed(self._turns.values()):
            if response_id not in (None, turn.response_id) or lane not in (None, turn.lane) or turn.cancelled:
                continue
            turn.cancelled = True
            return [Stop(turn.response_id)] if turn.running else []
        return []

    def _start(self) -> list[Start]:
        busy = {turn.lane for turn in self._turns.values() if turn.running}
        room = self._limits.in_flight - len(busy)
        starts = []
        for turn in self._turns.values():
            if room and not turn.running and turn.lane not in busy:
                turn.running = True
                busy.add(turn.lane)
                room -= 1
                starts.append(Start(turn.response_id, self._parent(turn.parent_id), turn.cancelled))
        return starts

    def _parent(self, response_id: str | None) -> History | None:
        for latest in self._latest.values():
            if latest.response_id == response_id:
                return latest.history
        return None
