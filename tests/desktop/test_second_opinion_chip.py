"""The keys for more and for another, with real key events: the deep model is asked, waits beside, and is turned to."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from offhook_app.panels.second_opinion import SecondOpinion
from offhook_app.panels.window import MainWindow
from offhook_app.state.theme import DARK
from support.fake_line import FakeLine

pytestmark = pytest.mark.window

ALT = Qt.KeyboardModifier.AltModifier


def typing(qtbot: QtBot, line: FakeLine, folder: Path, text: str) -> MainWindow:
    path = folder / "a.py"
    path.write_text("\n\n")
    window = MainWindow(line, theme=DARK)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    line.up()
    assert window.open_path(path, (0, 0))
    assert window.file
    QTest.keyClicks(window.file.view, text)
    return window


def chip(window: MainWindow) -> SecondOpinion:
    return window.findChildren(SecondOpinion)[0]


def test_another_by_key_and_back(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    window = typing(qtbot, line, tmp_path, "x = ")
    assert window.file
    view = window.file.view
    line.answers("fast()")
    assert not chip(window).isVisible()
    QTest.keyClick(view, Qt.Key.Key_Period, ALT)
    assert line.newest_suggest().lane == "deep"
    assert (view.ghost.text, chip(window).words) == ("fast()", "Deep model is thinking")
    line.answers("deep(\n    1\n)", source="deep")
    assert (view.ghost.text, chip(window).words) == ("fast()", "Deep model has another")
    assert chip(window).isVisible()
    caret = view.cursorRect()
    assert chip(window).geometry().top() <= caret.center().y() <= chip(window).geometry().bottom()
    QTest.keyClick(view, Qt.Key.Key_Period, ALT)
    assert (view.ghost.text, chip(window).words) == ("deep(\n    1\n)", "2 of 2, deep model")
    QTest.keyClick(view, Qt.Key.Key_Comma, ALT)
    assert view.ghost.text == "fast()"
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert not chip(window).isVisible()
    assert view.toPlainText() == "x = \n\n"


def test_more_by_key_asks_the_deep_model(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    window = typing(qtbot, line, tmp_path, "x = ")
    assert window.file
    QTest.keyClick(window.file.view, Qt.Key.Key_Bar, ALT | Qt.KeyboardModifier.ShiftModifier)
    assert line.newest_suggest().lane == "deep"
    line.answers("deep()", source="deep")
    assert window.file.view.ghost.text == "deep()"


def test_it_never_covers_text(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    window = typing(qtbot, line, tmp_path, "x = ")
    assert window.file
    line.answers("f(" + "a, " * 50 + ")")
    QTest.keyClick(window.file.view, Qt.Key.Key_Period, ALT)
    line.answers("deep()", source="deep")
    assert chip(window).words == "Deep model has another"
    assert not chip(window).isVisible()
