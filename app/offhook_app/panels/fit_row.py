"""Short words side by side. What has no room is left out whole, never cut; its place is kept."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from offhook_app.panels import fonts


def selectable(px: int, tone: str = "t2", weight: QFont.Weight = QFont.Weight.Normal) -> QLabel:
    """A label whose words can be marked with the mouse."""
    made = QLabel()
    made.setFont(fonts.ui(px, weight))
    made.setProperty("tone", tone)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    return made


class FitRow(QWidget):
    def __init__(self, px: int, gap: int) -> None:
        super().__init__()
        self._px, self._gap = px, gap
        self._height = selectable(px).sizeHint().height()
        self.setFixedHeight(self._height)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._labels: list[QLabel] = []
        self._widths: list[int] = []  # measuring words costs more than the rest

    def sizeHint(self) -> QSize:
        return QSize(0, self._height)

    @property
    def words(self) -> list[str]:
        """What can be seen."""
        return [shown.text() for shown in self._labels if not shown.isHidden()]

    def say(self, words: Sequence[str]) -> None:
        """The first ones are the last to be left out."""
        while len(self._labels) < len(words):
            made = selectable(self._px)
            made.setParent(self)
            self._labels.append(made)
            self._widths.append(0)
        for number, shown in enumerate(self._labels):
            said = words[number] if number < len(words) else ""
            if said != shown.text():
                shown.setText(said)
                self._widths[number] = shown.sizeHint().width()
        self._place()

    def _place(self) -> None:
        x, full = 0, False
        for shown, width in zip(self._labels, self._widths, strict=True):
            full = full or not shown.text() or x + width > self.width()
            shown.setVisible(not full)
            if not full:
                shown.setGeometry(x, 0, width, self._height)
                x += width + self._gap

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()
