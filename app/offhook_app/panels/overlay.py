"""The latency drawer: where the time of the last key went, in parts that add up, the line's round trip, the counters.

Closed it costs nothing; open it draws at most four times a second, and stands still while paused or while something in
it is selected. Its words and figures come from `state.hud` and `state.counters`.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from offhook_app.panels import fonts
from offhook_app.panels.fit_row import FitRow, selectable
from offhook_app.panels.overlay_bar import StackedBar
from offhook_app.panels.overlay_head import OverlayHead
from offhook_app.panels.overlay_parts import PartsTable
from offhook_app.panels.overlay_trips import TripsPlot
from offhook_app.state import counters, hud
from offhook_app.state.line_meter import LineFigures
from offhook_app.state.measured import Measured
from offhook_app.state.per_key import Totals
from offhook_app.state.theme import Theme
from offhook_wire.messages import ServerEvent, ServerStatus, Usage

HEIGHT = 236
REFRESH_MS = 250
_LEAST_WIDTH, _LEAST_WIDTH_WITH_PLOT, _WIDE = 480, 676, 860
_LEAST_PLOT_WIDTH = 140


class Overlay(QWidget):
    closed = Signal()

    def __init__(self, measured: Measured, line_figures: Callable[[], LineFigures], theme: Theme) -> None:
        super().__init__()
        self.setObjectName("overlay")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # what lies behind is not drawn again
        self.setFixedHeight(HEIGHT)
        self.setMinimumWidth(_LEAST_WIDTH)
        self.setAccessibleName("Latency")
        self._server: ServerStatus | None = None
        self._usage: Usage | None = None
        self._measured, self._line_figures, self._theme = measured, line_figures, theme
        self._page: hud.Page | None = None
        self._points: list[tuple[float, float]] | None = None
        self._said: list[counters.Counter] = []
        self._head = OverlayHead(theme)
        self._total, self._about = selectable(20, "t1", QFont.Weight.DemiBold), FitRow(12, 12)
        self._views = {view: _view_button(view) for view in hud.SHARES}
        self._bar, self._parts, self._counters = StackedBar(), PartsTable(), FitRow(11, 16)
        self._trip_words = selectable(12, "t1", QFont.Weight.DemiBold)
        self._plot: TripsPlot | None = None
        self._right = QWidget()
        self._right_column, self._right_words = QVBoxLayout(self._right), QHBoxLayout()
        self._inside = QWidget(self)  # in no layout of the window, or each new figure would lay that out again
        self._build()
        self._refresh_soon = QTimer(self, interval=REFRESH_MS)
        self._refresh_soon.timeout.connect(self.refresh)
        self.hide()

    def _build(self) -> None:
        self._counters.setAccessibleName("Counters")
        self._head.close_pressed.connect(self.closed)
        self._head.copy_pressed.connect(self.copy)
        for view, button in self._views.items():
            button.clicked.connect(lambda _=False, pressed=view: self._choose(pressed))
        top = QHBoxLayout()
        top.addWidget(self._total)
        top.addSpacing(4)
        top.addWidget(self._about, 1)
        for button in self._views.values():
            top.addWidget(button)
        lower = QHBoxLayout()
        lower.setSpacing(24)
        lower.addWidget(self._parts, 2)
        lower.addWidget(self._right, 1)
        self._build_right()
        body = QVBoxLayout()
        body.setContentsMargins(16, 6, 16, 8)
        body.setSpacing(6)
        body.addLayout(top)
        body.addWidget(self._bar)
        body.addLayout(lower, 1)
        body.addWidget(self._counters)
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(0, 1, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addLayout(body, 1)

    def _build_right(self) -> None:
        self._right.setMinimumWidth(_LEAST_PLOT_WIDTH)
        name = selectable(12)
        name.setText("Line, round trip")
        self._right_words.setSpacing(0)
        self._right_words.addWidget(name, 1)
        self._right_words.addWidget(self._trip_words)
        self._right_column.setContentsMargins(0, 0, 0, 0)
        self._right_column.setSpacing(4)
        self._right_column.addLayout(self._right_words)

    # -- opened and closed ----------------------------------------------------------------------------------------

    def recolour(self, theme: Theme) -> None:
        self._theme = theme
        self._head.recolour(theme)
        if self._plot:
            self._plot.recolour(theme)
        self._page = None
        if self.isVisible():
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._plot is None:
            self._plot = TripsPlot(self._theme)
            self._right_column.addWidget(self._plot)
        self.refresh()
        self._refresh_soon.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._refresh_soon.stop()
        self._measured.per_key.look_away()
        self._usage = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._inside.setGeometry(self.rect())
        self._right.setVisible(self.width() >= _LEAST_WIDTH_WITH_PLOT)
        way = QHBoxLayout.Direction.TopToBottom if self.width() < _WIDE else QHBoxLayout.Direction.LeftToRight
        self._right_words.setDirection(way)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(self._theme.chrome))
        painter.fillRect(0, 0, self.width(), 1, QColor(self._theme.line))
        painter.end()

    # -- figures --------------------------------------------------------------------------------------------------

    @property
    def view(self) -> hud.View:
        return next((view for view, button in self._views.items() if button.isChecked()), "last")

    @property
    def frozen(self) -> bool:
        """Paused, or somebody selects figures to copy them."""
        focus = self.window().focusWidget()
        selected = isinstance(focus, QLabel) and self.isAncestorOf(focus) and focus.hasSelectedText()
        return self._head.paused or selected or focus is self._parts

    def received(self, event: ServerEvent) -> None:
        if isinstance(event, ServerStatus):
            self._server = event
        elif isinstance(event, Usage):
            self._usage = event

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(counters.as_json(self._measured))

    def refresh(self) -> None:
        self._look()
        if self.frozen:
            return
        page = hud.page(self._measured, self.view, self._server)
        if page != self._page:
            self._page = page
            self._show_page(page)
        for view, words in hud.totals(self._measured).items():
            self._views[view].setText(f"{view}  {words}")
        self._say_counters(counters.counters(self._measured))
        points = self._measured.trips.points
        if points != self._points:
            self._points = points
            self._show_trips()

    def _look(self) -> None:
        line, usage = self._line_figures(), self._usage
        server_cpu_s = usage.cpu_s if usage else None
        totals = Totals(self._measured.keys, line.bytes_up, line.bytes_down, time.process_time(), server_cpu_s)
        self._measured.per_key.look(totals)

    def _choose(self, pressed: hud.View) -> None:
        for view, button in self._views.items():
            button.setChecked(button.isChecked() and view == pressed)
        self.refresh()

    def _show_page(self, page: hud.Page) -> None:
        self._head.whence.setText(page.whence)
        self._total.setText(page.total)
        self._about.say(page.about)
        self._bar.fill(page.rows if page.sums else (), self._theme, page.table)
        self._parts.fill(page, self._theme)

    def _say_counters(self, said: list[counters.Counter]) -> None:
        if said == self._said:
            return
        self._said = said
        self._counters.say(counters.words(said))
        self._counters.setToolTip(counters.hints(said))
        self._counters.setAccessibleDescription(counters.hints(said))

    def _show_trips(self) -> None:
        words = hud.trips(self._measured)
        self._trip_words.setText(words)
        if self._plot:
            self._plot.fill(self._measured.trips.points, self._measured.trips.at(0.95), words)


def _view_button(view: hud.View) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(f"{view} of every part, toggle")
    button.setCheckable(True)
    button.setFont(fonts.ui(12))
    button.setFixedHeight(24)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setToolTip("Show this percentile of every part")
    return button
