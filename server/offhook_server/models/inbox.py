"""What a worker has said about one request and nobody has read yet. Knows no socket.

Bounded by joining: a reader that falls behind finds one progress report and one longer delta, never a backlog.
"""

import asyncio
from collections import deque

from offhook_server.backends.base import Call, Delta, Finished, Piece, Progress
from offhook_server.errors import BackendError

Item = Piece | Finished | BackendError


class Inbox:
    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._filled = asyncio.Event()
        self.joined = 0  # items that were merged into one still unread

    def put(self, item: Item) -> None:
        if self._items and (merged := _merged(self._items[-1], item)):
            self._items[-1] = merged
            self.joined += 1
        else:
            self._items.append(item)
        self._filled.set()

    async def get(self) -> Piece | Finished:
        """Raises the BackendError that was put in place of a piece."""
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
        item = self._items.popleft()
        if isinstance(item, BackendError):
            raise item
        return item


def _merged(old: Item, new: Item) -> Item | None:
    match old, new:
        case Progress(), Progress():
            return new
        case Delta(), Delta():
            return Delta(old.id, old.text + new.text)
        case Call(), Call() if old.index == new.index:
            return Call(old.id, old.index, old.call_id, old.name, old.arguments + new.arguments)
    return None
