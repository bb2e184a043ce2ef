"""Whatever the server says and whenever: without an accept the text is the one typed with suggestions off."""

import random
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from offhook_app.panels.window import MainWindow
from offhook_app.state.line_state import LineState
from offhook_wire.messages import Suggest, TextDelta
from support.fake_line import FakeLine

pytestmark = pytest.mark.window

TEXT = "def f(a, b):\n    x = [a, '🙂é讷']\n\n    return x\n"
KEYS: list[str | Qt.Key] = [
    "f",
    "o",
    "(",
    ")",
    " ",
    "\n",
    "x",
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Delete,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Escape,
    Qt.Key.Key_Shift,
]
CTRL = [Qt.Key.Key_Z, Qt.Key.Key_Y, Qt.Key.Key_Left, Qt.Key.Key_Backspace, Qt.Key.Key_V, Qt.Key.Key_X]
ANSWERS = ["foo()", "o(", "\n    y = 1\n    z = 2", "  ", "讷🙂", ")"]


def opened(qtbot: QtBot, line: FakeLine, path: Path) -> MainWindow:
    path.write_text(TEXT)
    window = MainWindow(line)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert window.open_path(path, (1, 8))
    assert window.file
    qtbot.waitUntil(window.file.view.hasFocus)
    return window


def press(window: MainWindow, key: str | Qt.Key, *, ctrl: bool) -> None:
    assert window.file
    view = window.file.view
    if ctrl and not isinstance(key, str):
        QTest.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)
    elif key == "\n":
        QTest.keyClick(view, Qt.Key.Key_Return)
    elif isinstance(key, str):
        QTest.keyClicks(view, key)
    else:
        QTest.keyClick(view, key)


def chosen(dice: random.Random) -> tuple[str | Qt.Key, bool]:
    ctrl = dice.random() < 0.15
    return (dice.choice(CTRL), True) if ctrl else (dice.choice(KEYS), False)


def server_says_something(line: FakeLine, dice: random.Random, items: dict[str, str]) -> None:
    if not line.all(Suggest):
        return
    kind = dice.random()
    request_id = line.newest_suggest().request_id
    if kind < 0.5 and request_id not in items:
        items[request_id] = line.answers(dice.choice(ANSWERS), done=dice.random() < 0.4)
    elif kind < 0.8 and items:
        line.says(TextDelta(dice.choice(list(items.values())[-3:]), dice.choice(ANSWERS), 9))
    elif kind < 0.9:
        line.state.emit(LineState("waiting", attempt=1))
        line.up()


@pytest.mark.parametrize("seed", range(6))
def test_text_and_caret_are_those_of_a_run_without_suggestions(qtbot: QtBot, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    script = [chosen(dice) for _ in range(120)]
    trace: list[tuple[str, int]] = []
    plain = opened(qtbot, FakeLine(), tmp_path / "plain.py")
    for key, ctrl in script:
        press(plain, key, ctrl=ctrl)
        assert plain.file
        trace.append((plain.file.text, plain.file.view.textCursor().position()))
    plain.close()

    line = FakeLine()
    window = opened(qtbot, line, tmp_path / "with.py")
    line.up()
    items: dict[str, str] = {}
    for (key, ctrl), expected in zip(script, trace, strict=True):
        press(window, key, ctrl=ctrl)
        assert window.file
        assert (window.file.text, window.file.view.textCursor().position()) == expected
        assert str(window.file.view.buffer.text) == expected[0]
        server_says_something(line, dice, items)
        if dice.random() < 0.2:
            window.file.view.viewport().repaint()
    assert items
