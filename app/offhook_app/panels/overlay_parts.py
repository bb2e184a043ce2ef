"""The table under the bar: each part's colour, name and figure, and what the families have of it together.

Drawn by hand, in one go: as labels in a layout it cost ten times as much, four times a second. A click selects it, and
then it stands still (the drawer sees to that) and Ctrl C copies it.
"""

from collections.abc import Iterator

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from offhook_app.panels import fonts
from offhook_app.panels.overlay_bar import colour
from offhook_app.state.breakdown import FAMILIES
from offhook_app.state.hud import NOTHING_YET, Page, Row
from offhook_app.state.theme import DARK, Theme

COLUMNS, MOST_ROWS = 3, 5
ROW_HEIGHT = 17
_SQUARE, _GAP, _COLUMN_GAP, _SUM_GAP = 8, 6, 16, 12
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class PartsTable(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight((MOST_ROWS + 1) * ROW_HEIGHT)
        self._plain, self._bold = fonts.ui(12), fonts.ui(12, QFont.Weight.DemiBold)
        self._name_room, self._figure_room = QFontMetrics(self._plain), QFontMetrics(self._bold)
        self._page, self._theme = NOTHING_YET, DARK

    def fill(self, page: Page, theme: Theme) -> None:
        self._page, self._theme = page, theme
        self.setAccessibleName(page.table)
        self.setMinimumWidth(self.needed_width)
        self.update()

    @property
    def needed_width(self) -> int:
        """Less than this and words would run into each other."""
        sums = sum(self._sum_width(name, figure) for name, figure, _ in self._sums())
        total = self._figure_room.horizontalAdvance(f"= {self._page.total}")
        return max(sum(self._widths()) + _COLUMN_GAP * (COLUMNS - 1), sums + total if sums else 0)

    def sizeHint(self) -> QSize:
        return QSize(self.needed_width, (MOST_ROWS + 1) * ROW_HEIGHT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self._page.table)
        else:
            super().keyPressEvent(event)

    # -- drawing --------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        spare = max(0.0, (self.width() - sum(self._widths()) - _COLUMN_GAP * (COLUMNS - 1)) / COLUMNS)
        x = 0.0
        for rows, needed in zip(self._columns(), self._widths(), strict=True):
            for number, row in enumerate(rows):
                self._paint_part(painter, row, QRectF(x, number * ROW_HEIGHT, needed + spare, ROW_HEIGHT))
            x += needed + spare + _COLUMN_GAP
        self._paint_sums(painter)
        if self.hasFocus():
            painter.setPen(QColor(self._theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _paint_part(self, painter: QPainter, row: Row, place: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(self._theme, row.family, row.shade))
        painter.drawRoundedRect(QRectF(place.x(), place.center().y() - _SQUARE / 2, _SQUARE, _SQUARE), 2, 2)
        self._write(painter, row.name, place.adjusted(_SQUARE + _GAP, 0, 0, 0), self._theme.t2)
        self._write_bold(painter, row.figure, place, _RIGHT)

    def _paint_sums(self, painter: QPainter) -> None:
        """At the bottom, however many parts there are."""
        line = QRectF(self.rect()).adjusted(0, self.height() - ROW_HEIGHT, 0, 0)
        x = 0.0
        for name, figure, tone in self._sums():
            self._write(painter, name, line.adjusted(x, 0, 0, 0), tone)
            at = x + self._name_room.horizontalAdvance(name + " ")
            self._write_bold(painter, figure, line.adjusted(at, 0, 0, 0), _LEFT)
            x += self._sum_width(name, figure)
        if self._page.sums:
            self._write_bold(painter, f"= {self._page.total}", line, _RIGHT)

    def _write(self, painter: QPainter, words: str, place: QRectF, tone: str) -> None:
        painter.setFont(self._plain)
        painter.setPen(QColor(tone))
        painter.drawText(place, _LEFT, words)

    def _write_bold(self, painter: QPainter, words: str, place: QRectF, side: Qt.AlignmentFlag) -> None:
        painter.setFont(self._bold)
        painter.setPen(QColor(self._theme.t1))
        painter.drawText(place, side, words)

    # -- what goes where ------------------------------------------------------------------------------------------

    def _columns(self) -> list[tuple[Row, ...]]:
        """Filled one after the other, with as few rows as will do."""
        rows = self._page.rows
        each = -(-len(rows) // COLUMNS)
        return [rows[column * each : (column + 1) * each] for column in range(COLUMNS)]

    def _widths(self) -> list[int]:
        figures = max((self._figure_room.horizontalAdvance(row.figure) for row in self._page.rows), default=0)
        names = [
            max((self._name_room.horizontalAdvance(row.name) for row in rows), default=0) for rows in self._columns()
        ]
        return [_SQUARE + _GAP + name + _GAP + figures for name in names]

    def _sums(self) -> Iterator[tuple[str, str, str]]:
        """Name, figure, colour."""
        for family, figure in self._page.sums:
            tone = self._theme.t2 if family == "waiting" else colour(self._theme, family).name()
            yield FAMILIES[family], figure, tone

    def _sum_width(self, name: str, figure: str) -> int:
        name_width = self._name_room.horizontalAdvance(name + " ")
        return name_width + self._figure_room.horizontalAdvance(figure) + _SUM_GAP
