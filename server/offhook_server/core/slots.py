"""Which of the engine's cache places a document's keystrokes use: the two edited last keep one each. Not the engine's own count.

Two files edited in turn would read each other's prompt out of one place at every change of file.
"""

KEYSTROKES = (0, 2)  # 1 is for everything else (backends.base.Generate)


class Slots:
    """Of one engine, for all sessions that use it."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}  # by document, the one used longest ago first

    def of(self, uri: str) -> int:
        slot = self._held.pop(uri, None)
        if slot is None:
            free = [slot for slot in KEYSTROKES if slot not in self._held.values()]
            slot = free[0] if free else self._held.pop(next(iter(self._held)))
        self._held[uri] = slot
        return slot
