"""Ghost text in the real window: real keys, real layout, the server spoken for by the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QAccessibleAnnouncementEvent, QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from offhook_app.editor.view import CodeView
from offhook_app.panels.window import MainWindow
from offhook_app.state.line_state import LineState
from offhook_wire.messages import Cancel, DocumentDidChange, Suggest, TextDelta
from support.fake_line import FakeLine

pytestmark = pytest.mark.window

Open = Callable[..., MainWindow]


def view_of(window: MainWindow) -> CodeView:
    assert window.file
    return window.file.view


def text_of(window: MainWindow) -> str:
    assert window.file
    return window.file.text


def seen(qtbot: QtBot, window: MainWindow) -> None:
    """Waits until the ghost has been on the screen long enough for Tab."""
    view = view_of(window)
    qtbot.waitUntil(lambda: bool(view.ghost.text) and not view._unpainted)
    qtbot.wait(160)


def lines_shown(view: CodeView) -> int:
    block = view.textCursor().block()
    view.blockBoundingRect(block)
    return block.layout().lineCount()


def test_typing_asks_and_the_answer_is_seen_not_in_the_text(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("def f():\n    return 1\n", (0, 8))
    view = view_of(window)
    below = view.blockBoundingGeometry(view.document().findBlockByNumber(1)).top()
    QTest.keyClick(view, Qt.Key.Key_Return)
    asked = line.newest_suggest()
    assert (asked.position.line, asked.position.character) == (1, 4)
    line.answers("x = 1\n    y = 2\n    z = 3")
    assert lines_shown(view) == 3
    rows = (view.blockBoundingGeometry(view.document().findBlockByNumber(2)).top() - below) / view.blockBoundingRect(
        view.document().findBlockByNumber(0)
    ).height()
    assert rows == 3  # one for the new line, two that the ghost adds
    assert text_of(window) == "def f():\n    \n    return 1\n"
    assert window.path_row.hints.isVisible()
    assert "x = 1" not in view.toPlainText()


def test_typing_through_and_back_never_shows_an_empty_frame(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x =", (0, 3))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    line.answers("foobar()")
    asked = len(line.all(Suggest))
    frames = []
    view.ghost_painted.connect(lambda *_: frames.append(view.ghost.text))
    for key in "foo":
        QTest.keyClicks(view, key)
        view.viewport().repaint()
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    view.viewport().repaint()
    assert frames == ["oobar()", "obar()", "bar()", "obar()"]
    assert len(line.all(Suggest)) == asked
    assert text_of(window) == "x = fo"


def test_each_accept_is_one_undo_step(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:  # T9a-c
    window = open_file("", (0, 0))
    view = view_of(window)
    QTest.keyClicks(view, "123")
    line.answers("456 78\n9")
    seen(qtbot, window)
    QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert text_of(window) == "123456"
    QTest.keyClick(view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert text_of(window) == "123456 78"
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert text_of(window) == "123456 78\n9"
    QTest.keyClicks(view, "!")
    for expected in ("123456 78\n9", "123456 78", "123456", "123"):
        QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert text_of(window) == expected
        assert view.ghost.text == ""
    QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert text_of(window) == "123456"


def test_the_rest_of_the_line_is_kept(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:  # T3
    window = open_file("foo(a, c)\nbar\n", (0, 6))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    line.answers(" b,")
    seen(qtbot, window)
    assert text_of(window) == "foo(a, c)\nbar\n"
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert text_of(window) == "foo(a, b, c)\nbar\n"
    QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert text_of(window) == "foo(a, c)\nbar\n"


def test_tab_indents_while_the_ghost_is_new(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:  # T4b
    window = open_file("x", (0, 1))
    view = view_of(window)
    QTest.keyClicks(view, "=")
    line.answers("1")
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert text_of(window) == "x=  "


@pytest.mark.parametrize("way", ["escape", "arrow", "click", "select", "away", "undo"])
def test_it_goes_at_once_and_nothing_of_it_stays(open_file: Open, line: FakeLine, qtbot: QtBot, way: str) -> None:
    window = open_file("a = 1\nb", (1, 1))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    line.answers("two\nlines\nthree", done=False)
    assert lines_shown(view) == 3
    if way == "escape":
        QTest.keyClick(view, Qt.Key.Key_Escape)
    elif way == "arrow":
        QTest.keyClick(view, Qt.Key.Key_Up)
    elif way == "click":
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(5, 5))
    elif way == "select":
        view.moveCursor(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor)
    elif way == "away":
        window.header.latency.setFocus()
    else:
        QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert view.ghost.text == ""
    last = view.document().findBlockByNumber(1)
    view.blockBoundingRect(last)
    assert last.layout().lineCount() == 1
    assert last.layout().preeditAreaText() == ""
    assert not window.path_row.hints.isVisible()
    assert line.all(Cancel)


def test_a_key_that_changes_nothing_leaves_it(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x =", (0, 3))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    line.answers("1\n2")
    QTest.keyClick(view, Qt.Key.Key_Shift)
    QTest.keyClick(view, Qt.Key.Key_F5)
    assert (view.ghost.text, lines_shown(view)) == ("1\n2", 2)


def test_while_composing_there_is_no_ghost_and_the_commit_asks(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x =", (0, 3))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    line.answers("1\n2")
    asked = len(line.all(Suggest))
    QApplication.sendEvent(view, QInputMethodEvent("nihao", []))
    assert view.ghost.text == ""
    assert view.textCursor().block().layout().preeditAreaText() == "nihao"
    line.says(TextDelta("late", "1", 1))
    assert not view.ghost_key("accept")
    qtbot.waitUntil(lambda: window.status.suggestion.text() == "No suggestion: input method open")
    commit = QInputMethodEvent("", [])
    commit.setCommitString("你好")
    QApplication.sendEvent(view, commit)
    assert text_of(window) == "x = 你好"
    assert len(line.all(Suggest)) == asked + 1
    assert line.newest_suggest().position.character == 6
    line.answers("世界")
    QApplication.sendEvent(view, QInputMethodEvent("", []))  # Qt sends empty ones at odd times
    assert view.ghost.text == "世界"


def test_pasting_lines_is_quiet(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x = ", (0, 4))
    data = QMimeData()
    data.setText("1\r\n2\n")
    view_of(window).insertFromMimeData(data)
    assert text_of(window) == "x = 1\n2\n"
    assert line.all(Suggest) == []
    assert line.all(DocumentDidChange)[-1].content_changes[0].text == "1\n2\n"


def test_asking_by_key(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x = ", (0, 4))
    QTest.keyClick(view_of(window), Qt.Key.Key_Backslash, Qt.KeyboardModifier.AltModifier)
    assert line.newest_suggest().trigger_kind == "invoked"


def test_a_stream_grows_and_a_cut_line_freezes_it(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x =", (0, 3))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    item = line.answers("1", source="small", done=False)
    assert (view.ghost.text, view.ghost.tail) == ("1", "arriving")
    line.says(TextDelta(item, " + 2", 2))
    line.says(TextDelta(item, " + 3", 3))
    qtbot.waitUntil(lambda: view.ghost.text == "1 + 2 + 3")
    line.state.emit(LineState("waiting", retry_in_s=1, attempt=2))
    qtbot.waitUntil(lambda: view.ghost.tail == "cut")
    seen(qtbot, window)
    assert window.notices.words.startswith("Off the line")
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert text_of(window) == "x = 1 + 2 + 3"


def test_only_white_space_is_made_visible(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:  # T14
    window = open_file("x =", (0, 3))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    line.answers("  ")
    assert view.textCursor().block().layout().preeditAreaText() == "··"


def test_han_is_upright_with_a_dotted_line(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("x =", (0, 3))
    view = view_of(window)
    QTest.keyClicks(view, " ")
    line.answers("f('你好')")
    kinds = {
        (f.start, f.length): f.format.fontItalic() for f in view.textCursor().block().layout().formats() if f.start >= 4
    }
    assert kinds[(7, 2)] is False
    assert kinds[(4, 7)] is True


def test_scrolling_reaches_the_end_of_a_ghost_at_the_end(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("\n" * 100, (100, 0))
    view = view_of(window)
    before = view.verticalScrollBar().maximum()
    QTest.keyClicks(view, "x")
    line.answers("1\n" * 10)
    assert view.verticalScrollBar().maximum() == before + 10
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.verticalScrollBar().maximum() == before


def test_colours_right_of_the_caret_move_with_the_ghost(open_file: Open, line: FakeLine, qtbot: QtBot) -> None:
    window = open_file("f(,  None)\n", (0, 2))
    view = view_of(window)
    QTest.keyClicks(view, "x")
    layout = view.textCursor().block().layout()
    qtbot.waitUntil(lambda: any((f.start, f.length) == (6, 4) for f in layout.formats()))
    line.answers("yz")
    assert any((f.start, f.length) == (8, 4) for f in view.textCursor().block().layout().formats())
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert any((f.start, f.length) == (6, 4) for f in view.textCursor().block().layout().formats())


def test_a_suggestion_is_announced_once(
    open_file: Open, line: FakeLine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:  # T20
    said: list[str] = []

    class Reader:
        @staticmethod
        def updateAccessibility(event: QAccessibleAnnouncementEvent) -> None:
            said.append(event.message())

    monkeypatch.setattr("offhook_app.editor.driver.QAccessible", Reader)
    window = open_file("x =", (0, 3))
    QTest.keyClicks(view_of(window), " ")
    line.answers("12\n3", done=False)
    assert said == []
    line.finishes()
    qtbot.waitUntil(lambda: said == ["Suggestion, 2 lines, Tab accepts"])
    QTest.keyClicks(view_of(window), "1")
    assert len(said) == 1


@pytest.fixture
def open_file(qtbot: QtBot, line: FakeLine, tmp_path: Path, drafts_folder: Path) -> Iterator[Open]:
    windows: list[MainWindow] = []

    def opened(text: str, at: tuple[int, int], name: str = "a.py") -> MainWindow:
        path = tmp_path / name
        path.write_bytes(text.encode())
        window = MainWindow(line, drafts_folder=drafts_folder)
        windows.append(window)
        qtbot.addWidget(window)
        window.show()
        qtbot.waitExposed(window)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        line.up()
        assert window.open_path(path, at)
        qtbot.waitUntil(view_of(window).hasFocus)
        return window

    yield opened
    for window in windows:
        window.close()
