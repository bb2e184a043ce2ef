"""F6: the keyboard goes from one part of the window to the next, in reading order. Tab belongs to the code."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget


@dataclass(frozen=True, slots=True)
class Pane:
    """`whole` is what the keyboard is in; `first` gets it, where that is not the first that Tab would reach."""

    whole: QWidget
    first: QWidget | None = None

    @property
    def place(self) -> QWidget | None:
        """What gets the keyboard; None where nothing in it can have it."""
        if not self.whole.isVisible():
            return None
        if self.first:
            return self.first
        inside = (child for child in self.whole.findChildren(QWidget) if child.isVisible() and child.isEnabled())
        return next((child for child in inside if child.focusPolicy() & Qt.FocusPolicy.TabFocus), None)


def step(panes: Sequence[Pane], by: int) -> None:
    """To the next pane (`by` 1) or the one before (-1); round and round."""
    places = [(pane, place) for pane in panes if (place := pane.place)]
    focused = QApplication.focusWidget()
    here = next((n for n, (pane, _) in enumerate(places) if focused and _holds(pane.whole, focused)), None)
    if places:
        to = (here + by) % len(places) if here is not None else 0
        places[to][1].setFocus(Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason)


def _holds(whole: QWidget, focused: QWidget) -> bool:
    return whole is focused or whole.isAncestorOf(focused)
