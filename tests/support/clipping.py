"""Which words of a widget do not have the room they want."""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QLabel, QToolButton, QWidget


def clipped(whole: QWidget) -> list[str]:
    """The words of labels narrower than they want to be, and of labels and buttons that lie outside of `whole`."""
    found = []
    for widget in whole.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, (QLabel, QToolButton)):
            continue
        place = QRect(widget.mapTo(whole, QPoint()), widget.size())
        too_narrow = isinstance(widget, QLabel) and widget.width() < widget.sizeHint().width()
        if too_narrow or not whole.rect().contains(place):
            found.append(widget.text())
    return found
