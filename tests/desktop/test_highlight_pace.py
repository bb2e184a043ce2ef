"""Where parsing is dear it waits for a rest; where it is cheap it follows each key."""

import itertools
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from offhook_app.editor import highlight
from offhook_app.panels.window import MainWindow
from offhook_app.state.theme import DARK
from support.fake_line import FakeLine

pytestmark = pytest.mark.window


@pytest.mark.parametrize(("parse_s", "waits_ms"), [(0.0001, 12), (0.02, 200), (1.0, 400)])
def test_the_next_parse_waits_ten_times_what_the_last_one_took(
    qtbot: QtBot, line: FakeLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parse_s: float, waits_ms: int
) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    window = MainWindow(line, theme=DARK)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    assert window.open_path(path, (0, 5))
    assert window.file
    (highlighter,) = window.file.view.findChildren(highlight.Highlighter)
    (timer,) = highlighter.findChildren(QTimer)
    ticks = itertools.count(0.0, parse_s)
    monkeypatch.setattr("offhook_app.editor.highlight.time.perf_counter", lambda: next(ticks))

    QTest.keyClicks(window.file.view, "2")
    qtbot.waitUntil(lambda: not timer.isActive())
    assert timer.interval() == waits_ms

    QTest.keyClicks(window.file.view, "34")
    assert timer.isActive()  # one parse for both keys
    qtbot.waitUntil(lambda: not timer.isActive())
