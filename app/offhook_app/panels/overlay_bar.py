"""The stacked bar of the latency drawer: parts side by side on a fixed scale, the length of a frame marked."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from offhook_app.panels import fonts
from offhook_app.state.breakdown import Family
from offhook_app.state.hud import Row, frame_scale_ms
from offhook_app.state.theme import Theme

HEIGHT = 20
_GAP = 6


def colour(theme: Theme, family: Family, shade: int = 0) -> QColor:
    pairs: dict[Family, tuple[str, str]] = {
        "app": (theme.lat_app, theme.lat_app2),
        "line": (theme.lat_line, theme.lat_line2),
        "server": (theme.lat_server, theme.lat_server2),
        "screen": (theme.lat_screen, theme.lat_screen2),
        "waiting": (theme.edge, theme.edge),
    }
    return QColor(pairs[family][shade])


class StackedBar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self._rows: Sequence[Row] = ()
        self._theme: Theme | None = None

    def fill(self, rows: Sequence[Row], theme: Theme, table: str) -> None:
        """`table` is what is heard of it."""
        self._rows, self._theme = rows, theme
        self.setAccessibleName(table)
        self.update()

    @property
    def frame_ms(self) -> float:
        return 1000 / (self.screen().refreshRate() or 60)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.card))
        painter.drawRoundedRect(QRectF(self.rect()), 3, 3)
        scale_ms = frame_scale_ms(sum(row.ms for row in self._rows), self.frame_ms)
        filled_to = self._paint_parts(painter, self._theme, self.width() / scale_ms)
        self._paint_frame_mark(painter, self._theme, scale_ms, filled_to)
        painter.end()

    def _paint_parts(self, painter: QPainter, theme: Theme, px_per_ms: float) -> float:
        x = 0.0
        for row in self._rows:
            width = row.ms * px_per_ms
            if width > 0:
                box = QRectF(x, 0, max(1.0, width - 1), self.height())
                painter.fillRect(box, colour(theme, row.family, row.shade))
            x += width
        return x

    def _paint_frame_mark(self, painter: QPainter, theme: Theme, scale_ms: float, filled_to: float) -> None:
        at = self.frame_ms / scale_ms * self.width()
        painter.fillRect(QRectF(at, 0, 2, self.height()), QColor(theme.t1))
        words = f"one frame {self.frame_ms:.1f}"
        if at < self.width() * 0.9:
            words += f" · bar {scale_ms:,.0f} ms"
        painter.setFont(fonts.ui(11))
        width = QFontMetrics(painter.font()).horizontalAdvance(words)
        right = at - _GAP if at - _GAP - width > filled_to + _GAP else self.width() - _GAP
        if right - width > max(filled_to, at if right > at else 0) + _GAP:
            painter.setPen(QColor(theme.t2))
            place = QRectF(right - width, 0, width, self.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
