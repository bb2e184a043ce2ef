"""A suggestion's place in a text that goes on changing: kept, mapped or dropped, never guessed.

    text received      f o o b a r ( )
    typed since        f o o                 one is the beginning of the other: kept
    ghost                    b a r ( )       what of `text` is not typed yet

An edit that ends before the anchor moves it; an edit in lines below leaves it; typing at the caret is compared with the
text; Backspace over typed characters gives them back; anything else that touches it drops it, with a reason.
"""

from dataclasses import dataclass
from enum import StrEnum

from offhook_wire.text import Edit, Point, advance


class Drop(StrEnum):
    """Why a suggestion no longer applies; counted and shown."""

    TYPED_OVER = "typed_over"
    DELETED = "deleted"
    OVERWRITTEN = "overwritten"
    SUFFIX_CHANGED = "suffix_changed"


@dataclass(slots=True)
class Anchored:
    """`at` is where the suggestion was asked for; `typed` is what the person has put there since; `text` what came."""

    at: Point
    typed: str = ""
    text: str = ""

    @property
    def caret(self) -> Point:
        """Where the next character of the suggestion belongs."""
        return advance(self.at, self.typed)

    @property
    def ghost(self) -> str:
        return self.text[len(self.typed) :]

    def behind(self, consumed: int) -> "Anchored":
        """Another suggestion that was asked for at the same place but begins `consumed` typed characters behind it."""
        return Anchored(advance(self.at, self.typed[:consumed]), self.typed[consumed:])

    def _agrees(self) -> Drop | None:
        fits = self.text.startswith(self.typed) or self.typed.startswith(self.text)
        return None if fits else Drop.TYPED_OVER

    def receive(self, delta: str) -> Drop | None:
        """More of the suggestion."""
        self.text += delta
        return self._agrees()

    def through(self, edit: Edit) -> Drop | None:
        """Carries the suggestion through one edit of the text; a reason means it is dead."""
        caret = self.caret
        if edit.start == caret and edit.end == caret:
            self.typed += edit.text
            return self._agrees()
        if edit.start > caret:
            return None if edit.start.line > caret.line else Drop.SUFFIX_CHANGED
        if edit.end > caret:
            return Drop.OVERWRITTEN
        if edit.end == caret:
            return self._taken_back(edit)
        if edit.end < self.at:
            self.at = _moved(self.at, edit)
            return None
        return Drop.OVERWRITTEN

    def _taken_back(self, edit: Edit) -> Drop | None:
        """Characters before the caret went (or were replaced): fine while they are ones typed into the suggestion."""
        if edit.text or not self.typed.endswith(edit.removed):
            return Drop.DELETED
        self.typed = self.typed[: -len(edit.removed)]
        return None


def _moved(point: Point, edit: Edit) -> Point:
    """`point`, behind the end of `edit`, in the text after it."""
    end = edit.new_end
    if point.line > edit.end.line:
        return Point(point.line + end.line - edit.end.line, point.column)
    return Point(end.line, point.column + end.column - edit.end.column)
