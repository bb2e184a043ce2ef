"""Line numbers beside the code. Lines that a ghost adds have none."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from offhook_app.state.theme import Theme

if TYPE_CHECKING:
    from offhook_app.editor.view import CodeView

_LEAST_WIDTH = 66
_RIGHT = 28  # room for signs and marks between number and code


class Gutter(QWidget):
    def __init__(self, view: "CodeView", theme: Theme) -> None:
        super().__init__(view)
        self._view = view
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._back, self._current_back = QColor(theme.editor), QColor(theme.curline)
        self._number, self._current = QColor(theme.num), QColor(theme.t1)

    def width_for(self, lines: int) -> int:
        return max(_LEAST_WIDTH, self.fontMetrics().horizontalAdvance("9" * len(str(lines))) + _RIGHT + 12)

    def sizeHint(self) -> QSize:
        return QSize(self.width_for(self._view.blockCount()), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._back)
        current = self._view.textCursor().blockNumber()
        for block, top, line_height in self._view.visible_blocks(event.rect()):
            number = block.blockNumber()
            row = QRect(0, round(top), self.width(), round(line_height))
            if number == current:
                painter.fillRect(row, self._current_back)
            painter.setPen(self._current if number == current else self._number)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(row.adjusted(0, 0, -_RIGHT, 0), right, str(number + 1))
        painter.end()
