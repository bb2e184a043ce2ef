"""What waits to be written to one connection, merged while it waits. Not the writing.

The writer takes one frame at a time and stands still while the transport is full. Meanwhile deltas of one text grow
together (the newest sequence number counts); nothing else is merged, and nothing is ever left out: a backlog over
`most_bytes` refuses what comes, and the connection must end.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from offhook_wire import codec
from offhook_wire.messages import TextDelta

MOST_BYTES = 4 * 1024 * 1024
_DELTA = "response.output_text.delta"
Message = Struct | dict[str, Any] | bytes  # bytes: a frame that was encoded before


@dataclass(slots=True)
class _Waiting:
    """A frame, or a text delta of which more may come."""

    size_bytes: int
    frame: bytes = b""
    delta: dict[str, Any] | None = None
    texts: list[str] = field(default_factory=list)


class Outbox:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._waiting: deque[_Waiting] = deque()
        self._deltas: dict[str, _Waiting] = {}
        self._most_bytes = most_bytes
        self.size_bytes = 0
        self.merged = 0
        self.overflowed = False

    def put(self, message: Message) -> bool:
        """False when the backlog is over its bound, now or before."""
        delta = _text_delta(message)
        size_bytes = len(delta["delta"].encode()) if delta else 0
        if delta and delta["item_id"] in self._deltas:
            waiting = self._deltas[delta["item_id"]]
            waiting.delta = delta
            waiting.texts.append(delta["delta"])
            waiting.size_bytes += size_bytes
            self.merged += 1
        elif delta:
            waiting = self._deltas[delta["item_id"]] = _Waiting(size_bytes, delta=delta, texts=[delta["delta"]])
            self._waiting.append(waiting)
        else:
            frame = message if isinstance(message, bytes) else codec.encode(message)
            size_bytes = len(frame)
            self._waiting.append(_Waiting(size_bytes, frame))
        self.size_bytes += size_bytes
        self.overflowed = self.overflowed or self.size_bytes > self._most_bytes
        return not self.overflowed

    def take(self) -> bytes | None:
        """The next frame to write."""
        if not self._waiting:
            return None
        waiting = self._waiting.popleft()
        self.size_bytes -= waiting.size_bytes
        if waiting.delta is None:
            return waiting.frame
        del self._deltas[waiting.delta["item_id"]]
        return codec.encode({**waiting.delta, "delta": "".join(waiting.texts)})


def _text_delta(message: Message) -> dict[str, Any] | None:
    if isinstance(message, TextDelta):
        return {"type": _DELTA} | {name: getattr(message, name) for name in TextDelta.__struct_fields__}
    if isinstance(message, dict) and message["type"] == _DELTA:
        return message
    return None
