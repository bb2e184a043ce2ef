"""What a key paints: its own line. The rest of the view and the line numbers only where lines move."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from offhook_app.editor.drafts import Drafts
from offhook_app.editor.file import FileProblem
from offhook_app.editor.view import CodeView
from offhook_app.panels.window import MainWindow
from offhook_app.state.theme import DARK
from offhook_wire.messages import Suggest
from support.fake_line import FakeLine

pytestmark = pytest.mark.window


class Painted(QObject):
    """How high what is painted of the code is, and how often the numbers are."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view
        self.heights: list[int] = []
        self.numbers = 0
        view.viewport().installEventFilter(self)
        view.gutter.installEventFilter(self)

    def forget(self) -> None:
        QApplication.processEvents()
        self.heights, self.numbers = [], 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            if watched is self._view.gutter:
                self.numbers += 1
            else:
                self.heights.append(event.rect().height())
        return False


@pytest.fixture
def window(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> MainWindow:
    path = tmp_path / "a.txt"
    path.write_text("x =\n" * 40)
    window = MainWindow(line, theme=DARK)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    line.up()
    assert window.open_path(path, (20, 3))
    return window


def look(window: MainWindow) -> Painted:
    assert window.file
    painted = Painted(window.file.view)
    painted.forget()
    return painted


def row(window: MainWindow) -> int:
    assert window.file
    return round(window.file.view.blockBoundingRect(window.file.view.document().firstBlock()).height())


def key(window: MainWindow, sign: str) -> None:
    assert window.file
    QTest.keyClicks(window.file.view, sign)
    QApplication.processEvents()


def test_a_sign_paints_its_own_line(window: MainWindow) -> None:
    painted = look(window)
    key(window, "1")
    assert painted.heights
    assert max(painted.heights) <= 2 * row(window)
    assert painted.numbers == 0


def test_so_does_a_ghost_that_adds_no_line(window: MainWindow, line: FakeLine) -> None:
    painted = look(window)
    key(window, " ")
    line.answers("value")
    QApplication.processEvents()
    key(window, "v")
    key(window, "!")  # it goes
    assert max(painted.heights) <= 2 * row(window)
    assert painted.numbers == 0


def test_lines_of_a_ghost_move_what_is_below_and_its_number(window: MainWindow, line: FakeLine) -> None:
    painted = look(window)
    key(window, " ")
    line.answers("(\n    1,\n)")
    QApplication.processEvents()
    assert max(painted.heights) > 10 * row(window)
    assert painted.numbers > 0
    painted.forget()
    key(window, "!")
    assert max(painted.heights) > 10 * row(window)
    assert painted.numbers > 0


def test_the_ghost_s_own_line_may_go_with_it(window: MainWindow, line: FakeLine) -> None:
    key(window, " ")
    line.answers("(\n    1,\n)")
    assert window.file
    view = window.file.view
    view.selectAll()
    key(window, "x =")
    key(window, " ")
    painted = look(window)
    line.answers("(\n    1,\n)")
    QApplication.processEvents()
    assert max(painted.heights) > 10 * row(window)


def test_the_keys_stay_beside_the_code_from_one_suggestion_to_the_next(
    window: MainWindow, line: FakeLine, qtbot: QtBot
) -> None:
    hints = window.path_row.hints
    key(window, " ")
    assert not hints.isVisible()
    line.answers("value")
    assert hints.isVisible()
    key(window, "!")
    assert hints.isVisible()
    line.answers("other")
    assert hints.isVisible()
    key(window, "!")
    qtbot.waitUntil(lambda: not hints.isVisible())  # nothing came


def test_and_go_at_once_with_escape(window: MainWindow, line: FakeLine) -> None:
    key(window, " ")
    line.answers("value")
    assert window.file
    QTest.keyClick(window.file.view, Qt.Key.Key_Escape)
    assert not window.path_row.hints.isVisible()


def test_the_current_line_is_marked_when_the_caret_leaves_it_and_when_the_line_goes(window: MainWindow) -> None:
    assert window.file
    view = window.file.view

    def marked() -> int:
        (mark,) = view.extraSelections()
        return mark.cursor.blockNumber()

    for does in (Qt.Key.Key_Up, Qt.Key.Key_Return, Qt.Key.Key_Home, Qt.Key.Key_Backspace, Qt.Key.Key_A):
        QTest.keyClick(view, does)
        assert marked() == view.textCursor().blockNumber()
    window.file.view.selectAll()
    key(window, "y")
    assert marked() == view.textCursor().blockNumber() == 0


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def fails() -> None:
        def full(*_: object) -> None:
            raise FileProblem("The draft could not be kept: no space left on device.")

        monkeypatch.setattr(Drafts, "_write", full)

    return fails


def test_a_draft_that_fails_while_one_types_is_told(
    qtbot: QtBot, line: FakeLine, tmp_path: Path, fail: Callable[[], None]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    window = MainWindow(line, theme=DARK, drafts_folder=tmp_path / "drafts")
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    assert window.open_path(path)
    fail()
    key(window, "y")
    qtbot.waitUntil(lambda: "no space left" in window.notices.words)
    window.save()
    assert not window.notices.words


GHOSTS = ("value", "v", "(\n    1,\n)", "a\nb", "x" * 90, "é漢字\n", "  ")
KEYS = (" ", "v", "(", "\r", "\b", "up", "home", "undo", "escape", "tab", "paste")


@pytest.mark.parametrize("seed", range(4))
def test_what_is_on_the_screen_is_what_a_whole_paint_would_show(
    window: MainWindow, line: FakeLine, qtbot: QtBot, seed: int
) -> None:
    """Real pixels: whatever was typed, suggested and taken back, nothing of it is left anywhere."""
    assert window.file
    view = window.file.view
    QApplication.setCursorFlashTime(0)
    random, answered = Random(seed), 0
    for _ in range(60):
        done = random.choice(KEYS)
        press(view, done)
        asked = line.all(Suggest)
        if len(asked) > answered and random.random() < 0.6:
            answered = len(asked)
            line.answers(random.choice(GHOSTS), done=random.random() < 0.7)
        QApplication.processEvents()
        qtbot.waitUntil(lambda: not view._unpainted or not view.ghost.text)
        seen = pixels(window)
        view.viewport().update()
        view.gutter.update()
        QApplication.processEvents()
        assert seen == pixels(window), done


def press(view: CodeView, what: str) -> None:
    none, control = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
    named = {"up": Qt.Key.Key_Up, "home": Qt.Key.Key_Home, "escape": Qt.Key.Key_Escape, "tab": Qt.Key.Key_Tab}
    if what == "undo":
        QTest.keyClick(view, Qt.Key.Key_Z, control)
    elif what == "paste":
        view.insert("one\n  two\n", "paste")
    elif what in named:
        QTest.keyClick(view, named[what], none)
    elif what == "\b":
        QTest.keyClick(view, Qt.Key.Key_Backspace, none)
    elif what == "\r":
        QTest.keyClick(view, Qt.Key.Key_Return, none)
    else:
        QTest.keyClicks(view, what)


def pixels(window: MainWindow) -> bytes:
    """Of the editor, as the screen has them."""
    assert window.file
    view = window.file.view
    at = view.mapTo(window, QPoint(0, 0))
    shot = window.screen().grabWindow(window.winId(), at.x(), at.y(), view.width(), view.height()).toImage()
    return bytes(shot.constBits())
