"""The keyboard alone reaches every part of the window, and comes back."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from offhook_app.panels.window import MainWindow
from offhook_app.state.theme import DARK
from support.fake_line import FakeLine

pytestmark = pytest.mark.window


@pytest.fixture
def window(qtbot: QtBot, line: FakeLine) -> MainWindow:
    window = MainWindow(line, theme=DARK)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def walked(window: MainWindow, steps: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> list[str]:
    """The parts the keyboard was in, press by press."""
    parts: dict[str, QWidget] = {
        "header": window.header,
        "notices": window.notices,
        "code": window._stack,
        "latency": window.overlay,
        "conversation": window.conversation,
        "status": window.status,
    }
    seen = []
    for _ in range(steps):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_F6, modifier)
        focused = QApplication.focusWidget()
        assert focused is not None
        seen += [name for name, part in parts.items() if part is focused or part.isAncestorOf(focused)]
    return seen


def test_f6_goes_round_in_reading_order_and_shift_f6_back(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    assert window.open_path(path)
    window.toggle_latency()
    window.toggle_conversation()
    assert window.file
    qtbot.waitUntil(window.file.view.hasFocus)
    assert walked(window, 4) == ["latency", "conversation", "header", "code"]
    assert window.file.view.hasFocus()
    back = walked(window, 4, Qt.KeyboardModifier.ShiftModifier)
    assert back == ["header", "conversation", "latency", "code"]
    assert window.file.text == "x = 1\n"


def test_what_is_hidden_is_left_out_and_no_file_is_no_trap(window: MainWindow) -> None:
    assert walked(window, 3) == ["header", "code", "header"]


def test_a_notice_can_be_reached(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    assert not window.open_path(tmp_path / "missing" / "a.py")
    qtbot.waitUntil(lambda: any(button.isVisible() for button in window.notices.findChildren(QPushButton)))
    assert walked(window, 3)[:2] == ["header", "notices"]


def test_when_a_notice_goes_the_keyboard_is_back_in_the_code(
    window: MainWindow, line: FakeLine, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    assert window.open_path(path)
    window.open_path(tmp_path / "missing" / "a.py")
    qtbot.waitUntil(lambda: any(button.isVisible() for button in window.notices.findChildren(QPushButton)))
    assert walked(window, 1, Qt.KeyboardModifier.ShiftModifier) == ["notices"]
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Space)
    assert window.notices.words == ""
    assert window.file
    assert window.file.view.hasFocus()
