"""Finished responses that may be continued or fetched later: a bounded memory, oldest use goes first. Not on disk."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from offhook_server.core.conversation import History

MOST_RESPONSES = 256
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stored:
    response: dict[str, Any]
    history: History


class ResponseStore:
    """Sizes count a shared beginning once for each response, so the memory used is less than the bound."""

    def __init__(self, most_responses: int = MOST_RESPONSES, most_bytes: int = MOST_BYTES) -> None:
        self._kept: OrderedDict[str, Stored] = OrderedDict()
        self._most_responses = most_responses
        self._most_bytes = most_bytes
        self._size_bytes = 0

    def put(self, stored: Stored) -> None:
        self._kept[stored.response["id"]] = stored
        self._size_bytes += stored.history.size_bytes
        while len(self._kept) > self._most_responses or self._size_bytes > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self._size_bytes -= oldest.history.size_bytes

    def get(self, response_id: str) -> Stored | None:
        if response_id in self._kept:
            self._kept.move_to_end(response_id)
        return self._kept.get(response_id)

    def delete(self, response_id: str) -> bool:
        gone = self._kept.pop(response_id, None)
        if gone is not None:
            self._size_bytes -= gone.history.size_bytes
        return gone is not None
