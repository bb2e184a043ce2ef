"""The line's round trips of the last two minutes as a plot, p95 dashed.

pyqtgraph is loaded when the first plot is made, in a thread: it takes half a second, and somebody may be typing.
"""

import importlib
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QGraphicsScene, QVBoxLayout, QWidget

from offhook_app.panels import fonts
from offhook_app.state.round_trips import KEPT_S
from offhook_app.state.theme import Theme

_LEAST_TOP_MS = 1.0
_OVER_MOST, _OVER_P95 = 1.15, 1.4  # the words over the dashed line need room
_LIBRARY = "pyqtgraph"


class TripsPlot(QWidget):
    """No axes, no mouse, no menu: its words stand above it. Empty until the library is there."""

    _loaded = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("trips")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._points: Sequence[tuple[float, float]] = ()
        self._p95_ms: float | None = None
        self._plot: _Plot | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 4, 4, 4)
        self._loaded.connect(self._make)
        if _LIBRARY in sys.modules:
            self._make()
        else:
            threading.Thread(target=self._load, name=_LIBRARY, daemon=True).start()

    def _load(self) -> None:
        importlib.import_module(_LIBRARY)
        with suppress(RuntimeError):  # the window has gone meanwhile
            self._loaded.emit()

    def _make(self) -> None:
        self._plot = _Plot()
        self._column.addWidget(self._plot.view)
        self._draw()

    def recolour(self, theme: Theme) -> None:
        self._theme = theme
        self._draw()

    def fill(self, points: Sequence[tuple[float, float]], p95_ms: float | None, words: str) -> None:
        """`points`: when (loop seconds) and how long (ms); the newest stands at the right edge."""
        self.setAccessibleName(f"Line, round trip, last {KEPT_S:.0f} s: {words}")
        self._points, self._p95_ms = points, p95_ms
        self._draw()

    def _draw(self) -> None:
        if self._plot:
            self._plot.recolour(self._theme)
            self._plot.draw(self._points, self._p95_ms)


class _Plot:
    def __init__(self) -> None:
        import pyqtgraph

        self.view = pyqtgraph.GraphicsView(background=None)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.view.scene().setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)  # it would keep a timer
        self._box = pyqtgraph.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0)
        self._line = pyqtgraph.PlotCurveItem(antialias=True)
        above = {"position": 1.0, "anchors": [(1.0, 1.0), (1.0, 1.0)]}
        self._p95 = pyqtgraph.InfiniteLine(angle=0, movable=False, label="p95", labelOpts=above)
        self._p95.label.setFont(fonts.ui(11))
        self._box.addItem(self._p95, ignoreBounds=True)
        self._box.addItem(self._line, ignoreBounds=True)
        self._box.disableAutoRange()
        self._box.setXRange(-KEPT_S, 0, padding=0)
        self.view.setCentralItem(self._box)

    def recolour(self, theme: Theme) -> None:
        self.view.setBackground(theme.card)
        self._line.setPen(_pen(theme.lat_line, 1.4))
        self._p95.setPen(_pen(theme.t3, 1, Qt.PenStyle.DashLine))
        self._p95.label.setColor(theme.t3)

    def draw(self, points: Sequence[tuple[float, float]], p95_ms: float | None) -> None:
        self._p95.setVisible(p95_ms is not None)
        if p95_ms is None:
            self._line.setData([], [])
            return
        newest_at = points[-1][0]
        self._line.setData([at - newest_at for at, _ in points], [ms for _, ms in points])
        self._p95.setPos(p95_ms)
        top_ms = max(_LEAST_TOP_MS, p95_ms * _OVER_P95, *(ms * _OVER_MOST for _, ms in points))
        self._box.setYRange(0, top_ms, padding=0)


def _pen(colour: str, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    pen = QPen(QColor(colour), width, style)
    pen.setCosmetic(True)  # in pixels, whatever the plot's scale
    return pen
