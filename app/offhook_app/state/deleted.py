"""What the person took out a short while ago, so that it is not offered back. Not the undo stack."""

from collections import deque
from dataclasses import dataclass

from offhook_wire.text import Edit, Point

KEPT_S = 60.0
LEAST_INK = 5  # shorter ones are typing slips
MOST = 32


@dataclass(slots=True)
class _Removal:
    text: str
    at: Point
    when: float


class Deleted:
    def __init__(self) -> None:
        self._removals: deque[_Removal] = deque(maxlen=MOST)

    def note(self, edit: Edit, now: float) -> None:
        """Backspace by backspace joins into one removal."""
        if not edit.removed:
            return
        last = self._removals[-1] if self._removals else None
        if last and edit.end == last.at and not edit.text:
            last.text, last.at, last.when = edit.removed + last.text, edit.start, now
        else:
            self._removals.append(_Removal(edit.removed, edit.start, now))

    def would_return(self, suggestion: str, now: float) -> bool:
        """Whether `suggestion`, as far as it has come, only puts back what was taken out in the last minute."""
        offered = suggestion.strip()
        if not offered:
            return False
        recent = (r.text.strip() for r in self._removals if now - r.when < KEPT_S)
        return any(
            len(removed) >= LEAST_INK and (removed.startswith(offered) or offered.startswith(removed))
            for removed in recent
        )
