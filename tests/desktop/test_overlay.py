"""The latency drawer as a person meets it: sums, reasons, standing still, and nothing spent while it is closed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from offhook_app.panels.overlay import Overlay
from offhook_app.panels.overlay_trips import TripsPlot
from offhook_app.panels.window import MainWindow
from offhook_app.state.line_meter import LineFigures
from offhook_app.state.line_state import LineState
from offhook_app.state.theme import DARK, LIGHT
from offhook_wire.messages import Timing, Usage, UsageWatch
from support.clipping import clipped
from support.fake_line import FakeLine

pytestmark = pytest.mark.window

SMALL = Timing(
    mirrored_ms=0.01,
    waited_ms=0.02,
    queue_ms=0.01,
    prefill_ms=0.05,
    first_token_ms=0.01,
    first_words_ms=0.01,
    handed_ms=0.01,
    ttft_ms=0.12,
    prompt_tokens=400,
    cached_tokens=300,
    output_tokens=9,
    decode_ms=400.0,
    read_at_ms=0.0,
)


@pytest.fixture
def window(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> MainWindow:
    """A file of one line, the caret at its end."""
    made = MainWindow(line, theme=DARK)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    line.figures = LineFigures(server_ahead_ms=0.0)
    line.up()
    path = tmp_path / "a.py"
    path.write_text("x =")
    assert made.open_path(path, (0, 3))
    return made


def typed(window: MainWindow, keys: str) -> None:
    assert window.file
    QTest.keyClicks(window.file.view, keys)


def painted(qtbot: QtBot, window: MainWindow) -> None:
    file = window.file
    assert file
    qtbot.waitUntil(lambda: not file.view._unpainted and not file.view._key_unpainted)


def suggested(qtbot: QtBot, window: MainWindow, line: FakeLine, timing: Timing = SMALL) -> None:
    typed(window, " ")
    line.finishes(outcome="unsure")
    line.answers("1", source="small", done=False)
    painted(qtbot, window)
    line.finishes(source="small", timing=timing)


def loaded(qtbot: QtBot, window: MainWindow) -> TripsPlot:
    plot = window.overlay._plot
    assert plot
    qtbot.waitUntil(lambda: plot._plot is not None, timeout=30_000)
    return plot


def button(overlay: Overlay, name: str) -> QToolButton:
    return next(b for b in overlay.findChildren(QToolButton) if b.accessibleName().startswith(name))


def number(words: str) -> float:
    return float(words.removesuffix(" ms").replace(",", ""))


def figures(overlay: Overlay) -> list[str]:
    """As printed in the table."""
    return [row.figure for row in overlay._parts._page.rows]


def test_parts_add_up_as_printed(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    overlay = window.overlay
    window.toggle_latency()
    assert overlay._total.text() == "Not measured yet"
    suggested(qtbot, window, line)
    qtbot.waitUntil(lambda: overlay._total.text().endswith(" ms"))
    total = number(overlay._total.text())
    assert round(sum(number(figure) for figure in figures(overlay)), 1) == total
    assert overlay._head.whence.text() == "Space at 1:5 · small model · shown"
    assert overlay._bar.accessibleName().startswith(f"{total:,.1f} ms, key to ghost")
    assert "Prompt read" in overlay._parts.accessibleName()


def test_each_percentile_by_itself(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    overlay = window.overlay
    suggested(qtbot, window, line)
    window.toggle_latency()
    p50, p95 = (button(overlay, name) for name in ("p50", "p95"))
    assert p50.text().startswith("p50  ")
    assert p50.text().endswith(" ms")
    p50.click()
    assert overlay._about.words[0] == "p50 of 1 by the small model"
    p95.click()
    assert overlay._about.words[0] == "p95 of 1 by the small model"
    assert not p50.isChecked()
    p95.click()
    assert overlay._about.words == ["key to ghost", "sum of the parts below"]


def test_a_key_without_a_suggestion_says_why(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    window.toggle_latency()
    typed(window, "q")
    painted(qtbot, window)
    line.finishes(outcome="empty")
    line.finishes(source="small", outcome="empty")
    qtbot.waitUntil(lambda: window.overlay._about.words == ["own paint", "nothing likely here"])
    assert window.overlay._head.whence.text() == "Key at 1:5 · no suggestion"
    assert len(figures(window.overlay)) == 3


def test_a_caret_that_rested_is_no_key(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    assert window.file
    QTest.keyClick(window.file.view, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: bool(line.all(UsageWatch)) or window._measured.requests.asked == 1)
    line.answers("1")
    painted(qtbot, window)
    assert window._measured.requests.shown == 1
    assert window._measured.keystrokes.latest is None
    assert window._measured.keys == 0


def test_it_stands_still_while_paused_or_marked(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    overlay = window.overlay
    suggested(qtbot, window, line)
    window.toggle_latency()
    pause, before = button(overlay, "Pause"), overlay._total.text()
    pause.click()
    assert pause.accessibleName() == "Pause, toggle, on"
    typed(window, "2")
    suggested(qtbot, window, line)
    overlay.refresh()
    assert overlay._total.text() == before
    pause.click()
    overlay.refresh()
    assert overlay._head.whence.text() == "Space at 1:7 · small model · shown"
    overlay._total.setFocus()
    overlay._total.setSelection(0, 2)
    assert overlay.frozen
    assert window.file
    window.file.view.setFocus()
    assert not overlay.frozen
    QTest.mouseClick(overlay._parts, Qt.MouseButton.LeftButton)
    assert overlay.frozen
    QTest.keyClick(overlay._parts, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().startswith(overlay._total.text())


def test_figures_are_copied_as_json(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    suggested(qtbot, window, line)
    window.toggle_latency()
    button(window.overlay, "Copy").click()
    said = json.loads(QGuiApplication.clipboard().text())
    assert said["latest"]["key"] == {"name": "Space", "line": 1, "column": 5}
    assert said["requests"]["shown"] == 1


def test_the_server_looks_at_its_workers_only_while_somebody_looks(
    qtbot: QtBot, line: FakeLine, window: MainWindow
) -> None:
    window.toggle_latency()
    line.state.emit(LineState("waiting", attempt=1))
    line.up()
    window.toggle_latency()
    assert [watch.on for watch in line.all(UsageWatch)] == [True, True, False]


def test_what_keys_cost(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    window.toggle_latency()
    line.says(Usage(10.0, 500.0))
    window.overlay.refresh()
    typed(window, "a" * 40)
    line.says(Usage(11.0, 500.0))
    window.overlay.refresh()
    cost = window._measured.per_key.cost
    assert cost
    assert cost.server_cpu_s == 1.0 / 40
    assert "CPU per 100 keys" in " ".join(window.overlay._counters.words)


def test_the_plot_comes_when_its_library_is_there(qtbot: QtBot, line: FakeLine, window: MainWindow) -> None:
    window.toggle_latency()
    plot = loaded(qtbot, window)
    for trip_ms in (0.8, 1.2, 0.9):
        line.state.emit(LineState("open", trip_ms))
    window.overlay.refresh()
    assert plot._plot
    assert list(plot._plot._line.getData()[1]) == [0.8, 0.8, 1.2, 0.9][-len(window._measured.trips.points) :]
    assert "p95 1.2 ms" in plot.accessibleName()
    for theme in (LIGHT, DARK):
        window.set_theme(theme)
    assert window.file
    assert window.file.view.hasFocus()


class Events(QObject):
    """Counts what the drawer does."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.seen: list[str] = []
        for watched in (widget, *widget.findChildren(QObject)):
            watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Paint, QEvent.Type.Timer, QEvent.Type.LayoutRequest):
            self.seen.append(f"{event.type().name} {watched.metaObject().className()} {watched.parent()}")
        return False


def test_closed_it_does_nothing(
    qtbot: QtBot, line: FakeLine, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    window.toggle_latency()
    loaded(qtbot, window)
    window.toggle_latency()
    QApplication.processEvents()  # what closing itself still had to do
    assert not window.overlay._refresh_soon.isActive()
    monkeypatch.setattr(window.overlay, "refresh", lambda: looked.append("refresh"))
    events = Events(window.overlay)
    for _ in range(20):
        suggested(qtbot, window, line)
        typed(window, "2")
        line.up()
    assert (events.seen, looked) == ([], [])
    assert window._measured.requests.shown == 20


@pytest.mark.parametrize(("width", "beside"), [(720, False), (900, True), (1100, False), (1440, True)])
def test_nothing_is_clipped(qtbot: QtBot, line: FakeLine, window: MainWindow, width: int, *, beside: bool) -> None:
    """`beside`: the conversation is open too."""
    window.resize(width, 700)
    window.sides.show_side(beside)
    window.toggle_latency()
    suggested(qtbot, window, line)
    window.overlay.refresh()
    qtbot.waitUntil(lambda: window.overlay.width() <= width and len(figures(window.overlay)) >= 14)
    assert window.overlay.height() == 236
    qtbot.waitUntil(lambda: clipped(window.overlay) == [])
    assert window.overlay._parts.width() >= window.overlay._parts.needed_width
    button(window.overlay, "p95").click()
    qtbot.waitUntil(lambda: clipped(window.overlay) == [])


def test_everything_one_can_press_has_a_name(window: MainWindow) -> None:
    window.toggle_latency()
    for pressed in window.overlay.findChildren(QToolButton):
        assert pressed.accessibleName()
        assert pressed.toolTip()
        assert min(pressed.width(), pressed.height()) >= 24


def alone(script: str, screen: str, scale: str = "1") -> list[str]:
    """The words that a process of its own prints."""
    environment = {
        **os.environ,
        "DISPLAY": screen,
        "QT_QPA_PLATFORM": "xcb",
        "QT_SCALE_FACTOR": scale,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


UNOPENED = """
import sys
from PySide6.QtWidgets import QApplication
app = QApplication([])
from offhook_app.panels.window import MainWindow
from support.fake_line import FakeLine
window = MainWindow(FakeLine())
window.show()
app.processEvents()
print("pyqtgraph" in sys.modules, "numpy" in sys.modules)
"""


def test_a_window_starts_without_the_plots_library(screen: str, window_manager: None) -> None:
    assert alone(UNOPENED, screen) == ["False", "False"]


SCALED = """
from PySide6.QtWidgets import QApplication
app = QApplication([])
from offhook_app.panels.window import MainWindow
from offhook_app.state.breakdown import Key
from offhook_wire.messages import Position, Suggest, SuggestionDone, Timing
from support.clipping import clipped
from support.fake_line import FakeLine
window = MainWindow(FakeLine())
window.resize(720, 480)
window.show()
measured = window._measured
measured.key(Key("Backspace", 1234, 123, 0.0))
measured.asked(Suggest("r", "", 1, Position(0, 0)), 0.1, 0.2, by_key=True)
measured.keystrokes.shown("r", "small", 1.0, 1.1)
measured.painted("r", 1.2, 1.3)
measured.done(SuggestionDone("r", "small", "finished", "s", Timing(waited_ms=500.0, ttft_ms=600.0, read_at_ms=300.0)), 0.0)
window.toggle_latency()
for _ in range(5):
    app.processEvents()
table = window.overlay._parts
print(len(table._page.rows), window.overlay.width(), table.width() >= table.needed_width, *clipped(window.overlay))
"""


@pytest.mark.parametrize("scale", ["1.5", "2"])
def test_nothing_is_clipped_where_everything_is_larger(screen: str, window_manager: None, scale: str) -> None:
    assert alone(SCALED, screen, scale) == ["15", "720", "True"]
