"""The latency drawer: where the time of the last key went, in parts that add up, and the line's round trip.

Closed it costs nothing; open it draws at most four times a second. The numbers come from `state.keystroke`.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from offhook_app.panels import fonts, style
from offhook_app.state.keystroke import Family, Keystrokes, Part, percentile, printed
from offhook_app.state.status import milliseconds
from offhook_app.state.theme import Theme

HEIGHT = 236
_REFRESH_MS = 250
_FAMILIES: dict[Family, str] = {
    "app": "App",
    "line": "Line",
    "server": "Server",
    "screen": "Screen",
    "waiting": "Waiting",
}


def shades(parts: Sequence[Part], theme: Theme) -> list[QColor]:
    """One colour each; the next part of a family takes its second shade."""
    pairs: dict[Family, tuple[str, str]] = {
        "app": (theme.lat_app, theme.lat_app2),
        "line": (theme.lat_line, theme.lat_line2),
        "server": (theme.lat_server, theme.lat_server2),
        "screen": (theme.lat_screen, theme.lat_screen2),
        "waiting": (theme.edge, theme.edge),
    }
    seen: dict[Family, int] = {}
    made = []
    for part in parts:
        turn = seen.get(part.family, 0)
        seen[part.family] = turn + 1
        made.append(QColor(pairs[part.family][turn % 2]))
    return made


class StackedBar(QWidget):
    """Parts side by side on a scale of ms, the length of a frame marked."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(22)
        self._parts: list[tuple[float, QColor]] = []
        self._track, self._mark, self._words = QColor(), QColor(), QColor()

    def fill(self, parts: list[tuple[float, QColor]], theme: Theme, table: str) -> None:
        self._parts = parts
        self._track, self._mark, self._words = QColor(theme.card), QColor(theme.t1), QColor(theme.t2)
        self.setAccessibleName(table)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0, 0, self.width(), self.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._track)
        painter.drawRoundedRect(box, 3, 3)
        frame_ms = 1000 / (self.screen().refreshRate() or 60)
        total_ms = sum(ms for ms, _ in self._parts)
        scale = self.width() / max(total_ms, frame_ms * 1.06)
        x = 0.0
        for ms, colour in self._parts:
            width = ms * scale
            painter.fillRect(QRectF(x, 0, max(1.0, width - 1), box.height()), colour)
            x += width
        self._paint_frame_mark(painter, frame_ms, frame_ms * scale, x)
        painter.end()

    def _paint_frame_mark(self, painter: QPainter, frame_ms: float, at: float, filled_to: float) -> None:
        painter.fillRect(QRectF(at, 0, 2, self.height()), self._mark)
        words = f"one frame {frame_ms:.1f}"
        painter.setFont(fonts.ui(11))
        width = QFontMetrics(painter.font()).horizontalAdvance(words)
        if at - width - 8 > filled_to:
            painter.setPen(self._words)
            place = QRectF(at - width - 8, 0, width, self.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)


class Sparkline(QWidget):
    """Round trips of the last two minutes, p95 dashed."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(180, 56)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._trips_ms: list[float] = []
        self._theme: Theme | None = None

    def fill(self, trips_ms: list[float], theme: Theme) -> None:
        self._trips_ms, self._theme = trips_ms, theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.setBrush(QColor(theme.card))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if len(self._trips_ms) > 1:
            self._paint_trips(painter, theme)
        painter.end()

    def _paint_trips(self, painter: QPainter, theme: Theme) -> None:
        top_ms = max(self._trips_ms) * 1.15
        inside = QRectF(self.rect()).adjusted(6, 6, -6, -6)
        step = inside.width() / (len(self._trips_ms) - 1)

        def height(ms: float) -> float:
            return inside.bottom() - ms / top_ms * inside.height()

        p95 = percentile(self._trips_ms, 0.95) or 0.0
        painter.setPen(QPen(QColor(theme.t3), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(inside.left(), height(p95)), QPointF(inside.right(), height(p95)))
        line = QPolygonF([QPointF(inside.left() + i * step, height(ms)) for i, ms in enumerate(self._trips_ms)])
        painter.setPen(QPen(QColor(theme.lat_line), 1.4))
        painter.drawPolyline(line)


class PartRow(QWidget):
    """A square of the part's colour, its name, its figure."""

    def __init__(self, part: Part, ms: float, colour: QColor) -> None:
        super().__init__()
        square = QLabel()
        square.setFixedSize(8, 8)
        square.setStyleSheet(f"background: {colour.name()}; border-radius: 2px;")
        name, figure = QLabel(part.name), QLabel(_figure(ms))
        name.setFont(fonts.ui(12))
        figure.setFont(fonts.ui(12, QFont.Weight.DemiBold))
        figure.setProperty("tone", "t1")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(square)
        row.addWidget(name, 1)
        row.addWidget(figure)


def _figure(ms: float) -> str:
    return f"{ms:,.1f}"


class Overlay(QWidget):
    closed = Signal()

    def __init__(self, keystrokes: Keystrokes, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("overlay")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self.setAccessibleName("Latency")
        self._keystrokes, self._theme = keystrokes, theme
        self._drawn: object = None
        self._total, self._about = _label(20, "t1", QFont.Weight.DemiBold), _label(12)
        self._percentiles, self._trip_words, self._sums = _label(12), _label(12, "t1"), _label(12, "t1")
        self._bar, self._spark = StackedBar(), Sparkline()
        self._parts = QGridLayout()
        self._build()
        self._refresh_soon = QTimer(self, interval=_REFRESH_MS)
        self._refresh_soon.timeout.connect(self.refresh)
        self.recolour(theme)
        self.hide()

    def recolour(self, theme: Theme) -> None:
        self._theme, self._drawn = theme, None
        self._close.setIcon(style.icon("x", theme.t2))
        self.refresh()

    def setVisible(self, visible: bool) -> None:
        super().setVisible(visible)
        if visible:
            self.refresh()
            self._refresh_soon.start()
        else:
            self._refresh_soon.stop()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 1, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        body = QVBoxLayout()
        body.setContentsMargins(16, 8, 16, 12)
        body.setSpacing(8)
        top = QHBoxLayout()
        top.addWidget(self._total)
        top.addSpacing(8)
        top.addWidget(self._about, 1)
        top.addWidget(self._percentiles)
        body.addLayout(top)
        body.addWidget(self._bar)
        lower = QHBoxLayout()
        lower.setSpacing(40)
        left = QVBoxLayout()
        self._parts.setHorizontalSpacing(24)
        self._parts.setVerticalSpacing(4)
        for third in range(3):
            self._parts.setColumnStretch(third, 1)
        left.addLayout(self._parts)
        left.addStretch(1)
        left.addWidget(self._sums)
        right = QVBoxLayout()
        right.addWidget(self._trip_words)
        right.addWidget(self._spark, 1)
        lower.addLayout(left, 2)
        lower.addLayout(right, 1)
        body.addLayout(lower, 1)
        column.addLayout(body, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        head.setObjectName("overlayHead")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        head.setFixedHeight(36)
        title = _label(12, "t1", QFont.Weight.DemiBold)
        title.setText("Keystroke")
        self._close = QToolButton()
        self._close.setIconSize(QSize(14, 14))
        self._close.setFixedSize(24, 24)
        self._close.setAccessibleName("Close latency, Alt 2")
        self._close.setToolTip("Close (Alt 2)")
        self._close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._close.clicked.connect(self.closed)
        self._whence = _label(12)
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 0, 12, 0)
        row.addWidget(title)
        row.addStretch(1)
        row.addWidget(self._whence)
        row.addSpacing(12)
        row.addWidget(self._close)
        return head

    def refresh(self) -> None:
        self._show_trips()
        latest = self._keystrokes.latest
        if latest is None:
            self._total.setText("Not measured yet")
            self._about.setText("type in a file, and the first suggestion fills this page")
            self._bar.fill([], self._theme, "No measurement yet")
            return
        if latest is self._drawn:
            return
        self._drawn = latest
        total_ms, parts = printed(latest)
        colours = shades([part for part, _ in parts], self._theme)
        self._total.setText(f"{_figure(total_ms)} ms")
        self._about.setText("key to ghost, sum of the parts below")
        self._whence.setText("copy model" if latest.source == "copy" else "small model")
        p50, p95 = (percentile(self._keystrokes.totals_ms, share) or 0.0 for share in (0.5, 0.95))
        self._percentiles.setText(f"p50 <b>{milliseconds(p50)}</b> &nbsp;&nbsp; p95 <b>{milliseconds(p95)}</b>")
        table = ", ".join(f"{part.name} {ms} ms" for part, ms in parts)
        self._bar.fill(
            [(ms, colour) for (_, ms), colour in zip(parts, colours, strict=True)], self._theme, f"Latency: {table}"
        )
        self._show_parts(parts, colours)
        self._show_sums(total_ms, parts)

    def _show_parts(self, parts: list[tuple[Part, float]], colours: list[QColor]) -> None:
        while item := self._parts.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        rows = -(-len(parts) // 3)
        for i, ((part, ms), colour) in enumerate(zip(parts, colours, strict=True)):
            self._parts.addWidget(PartRow(part, ms, colour), i % rows, i // rows)

    def _show_sums(self, total_ms: float, parts: list[tuple[Part, float]]) -> None:
        colours = {
            "app": self._theme.lat_app,
            "line": self._theme.lat_line,
            "server": self._theme.lat_server,
            "screen": self._theme.lat_screen,
            "waiting": self._theme.t2,
        }
        sums = []
        for family, name in _FAMILIES.items():
            ms = sum(value for part, value in parts if part.family == family)
            if ms:
                sums.append(f'<b style="color:{colours[family]}">{name}</b> {_figure(ms)}')
        self._sums.setText(" &nbsp;&nbsp; ".join([*sums, f"<b>= {_figure(total_ms)} ms</b>"]))

    def _show_trips(self) -> None:
        trips_ms = self._keystrokes.trips_ms
        p50, p95 = percentile(trips_ms, 0.5), percentile(trips_ms, 0.95)
        if p50 is None or p95 is None:
            self._trip_words.setText("Line, round trip: not measured")
        else:
            figures = f"p50 {milliseconds(p50)} · p95 {milliseconds(p95)}"
            self._trip_words.setText(f"Line, round trip &nbsp; <b>{figures}</b>")
        self._spark.fill(trips_ms, self._theme)


def _label(px: int, tone: str = "t2", weight: QFont.Weight = QFont.Weight.Normal) -> QLabel:
    label = QLabel()
    label.setFont(fonts.ui(px, weight))
    label.setProperty("tone", tone)
    return label
