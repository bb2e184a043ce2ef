"""The conversation in the real window: real keys, the server spoken for by the test, the history on a real disk."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from offhook_app.panels.code_card import CodeCard
from offhook_app.panels.page import THIN
from offhook_app.panels.prose import Prose
from offhook_app.panels.turn import Answer, Question, Turn
from offhook_app.panels.window import MainWindow
from offhook_app.state.line_state import LineState
from offhook_app.state.theme import DARK, LIGHT
from offhook_wire.messages import ModelStatus, ServerStatus
from offhook_wire.responses import ResponseCancel, ResponseCreate
from support.answers import completed, created, delta, failed
from support.fake_line import FakeLine

pytestmark = pytest.mark.window

CODE = "import os\n\n\ndef fetch(url):\n    return url\n"
ANSWER = "It **gives back** what it got.\n\n```python\nfor n in range(3):\n    print(n)\n```\n\nThat is all.\n"

Show = Callable[..., MainWindow]


@pytest.fixture
def show(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> Iterator[Show]:
    windows: list[MainWindow] = []

    def shown(text: str = CODE, at: tuple[int, int] = (4, 4), name: str = "a.py") -> MainWindow:
        path = tmp_path / name
        path.write_text(text)
        window = MainWindow(line, theme=DARK, history_file=tmp_path / "data" / "conversations.sqlite")
        windows.append(window)
        qtbot.addWidget(window)
        window.show()
        qtbot.waitExposed(window)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        line.up()
        assert window.open_path(path, at)
        assert window.file
        qtbot.waitUntil(window.file.view.hasFocus)
        return window

    yield shown
    for window in windows:
        window.close()


def key(window: MainWindow, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    focus = QApplication.focusWidget()
    assert focus
    assert window.isAncestorOf(focus)
    QTest.keyClick(focus, key, held)


def ask(window: MainWindow, words: str) -> None:
    key(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    field = window.conversation.composer.field
    assert field.hasFocus()
    QTest.keyClicks(field, words)
    key(window, Qt.Key.Key_Return)


def answer(line: FakeLine, text: str, response_id: str = "resp_1") -> None:
    line.says(created(response_id))
    for piece in text.split(" "):
        line.says(delta(piece + " "))
    line.says(completed(response_id))


def asked(line: FakeLine) -> str:
    """The words of the newest question, as they were sent."""
    items = line.all(ResponseCreate)[-1].input
    assert isinstance(items, list)
    return str(items[-1]["content"][0]["text"])


def last_answer(window: MainWindow) -> Answer:
    window.conversation.transcript._lay_late()
    settle()
    return window.conversation.transcript.findChildren(Answer)[-1]


def parts(turn: Turn) -> list[str]:
    found = []
    for n in range(turn._body.count()):
        item = turn._body.itemAt(n)
        part = item.widget() if item else None
        assert isinstance(part, CodeCard | Prose)
        found.append(part.text if isinstance(part, CodeCard) else part.toPlainText())
    return found


def settle() -> None:
    """What was put into a layout is shown, and has its size."""
    for _ in range(3):
        QApplication.processEvents()


def button(window: MainWindow, words: str) -> QAbstractButton:
    settle()
    found = [b for b in window.conversation.findChildren(QAbstractButton) if b.text() == words and b.isVisible()]
    return found[-1]


def test_ask_by_keyboard_and_read_the_answer(show: Show, line: FakeLine) -> None:
    window = show()
    assert not window.conversation.isVisible()
    ask(window, "What is this?")
    assert window.conversation.isVisible()
    assert window.header.conversation.isChecked()
    assert asked(line).endswith("What is this?")
    assert "Lines 1 to 6 of a.py, the caret is in line 5:\n\n```python\nimport os" in asked(line)
    assert last_answer(window)._state.text() == "thinking"
    answer(line, ANSWER)
    shown = last_answer(window)
    assert shown._state.text() == "written"
    assert parts(shown) == ["It gives back what it got.", "for n in range(3):\n    print(n)", "That is all."]
    assert window.conversation.composer.field.hasFocus()
    key(window, Qt.Key.Key_Escape)
    assert window.file
    assert window.file.view.hasFocus()


def test_alt_3_shows_and_hides_without_taking_the_keyboard(show: Show, line: FakeLine) -> None:
    window = show()
    assert window.file
    key(window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    assert window.conversation.isVisible()
    assert window.file.view.hasFocus()
    window.conversation.composer.field.setFocus()
    key(window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    assert not window.conversation.isVisible()
    assert window.file.view.hasFocus()
    window.header.conversation.click()
    assert window.conversation.isVisible()


def test_insert_puts_the_code_at_the_caret_as_one_step(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "How?")
    answer(line, ANSWER)
    last_answer(window)
    assert window.file
    window.file.go_to(4, 4)
    button(window, "Insert").click()
    inserted = "def fetch(url):\n    for n in range(3):\n        print(n)return url\n"
    assert window.file.text == CODE.replace("def fetch(url):\n    return url\n", inserted)
    assert window.file.view.hasFocus()
    window.file.view.undo()
    assert window.file.text == CODE


def test_tab_goes_in_reading_order_and_the_keyboard_is_always_seen(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "How?")
    answer(line, ANSWER)
    shown = last_answer(window)
    stops = []
    for _ in range(5):
        key(window, Qt.Key.Key_Backtab)
        focus = QApplication.focusWidget()
        assert focus
        stops.append(getattr(focus, "text", focus.accessibleName)() or focus.accessibleName())
    assert stops == ["Offhook, text", "Python, 2 lines", "Copy", "Insert", "Offhook, text"]
    bar = window.grab().toImage().pixelColor(shown.mapTo(window, QPoint(1, shown.height() // 2)))
    assert bar.name() == DARK.accent
    for _ in range(2):
        key(window, Qt.Key.Key_Tab)
    key(window, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text().startswith("for n in range(3)")


def test_copy_takes_the_code_as_it_is(show: Show, line: FakeLine, qtbot: QtBot) -> None:
    window = show()
    ask(window, "How?")
    answer(line, ANSWER)
    last_answer(window)
    copy = button(window, "Copy")
    copy.click()
    assert QGuiApplication.clipboard().text() == "for n in range(3):\n    print(n)"
    assert copy.text() == "Copied"
    qtbot.waitUntil(lambda: copy.text() == "Copy")


def test_prose_is_copied_without_marks(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "How?")
    answer(line, "Call `fetch` **now**:\n\n- one\n- [two](http://two.example)\n")
    prose = last_answer(window).findChild(Prose)
    assert prose
    prose.setFocus()
    key(window, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    key(window, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text().replace("\u2002", " ")
    assert copied == "Call fetch now:\n• one\n• two (http://two.example)"


def test_python_is_coloured_as_in_the_editor(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "How?")
    answer(line, ANSWER)
    card = last_answer(window).findChild(CodeCard)
    assert card
    formats = card._code.document().firstBlock().layout().formats()
    assert (formats[0].start, formats[0].length) == (0, 3)
    assert formats[0].format.foreground().color().name() == DARK.keyword


def test_code_that_streams_in_is_a_card_from_its_first_line(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "How?")
    line.says(created("resp_1"))
    seen = []
    for piece in ("Like th", "is:\n\n``", "`python\nx = 1", "\ny = 2\n``", "`\nDone."):
        line.says(delta(piece))
        seen.append(parts(last_answer(window)))
    assert seen == [
        ["Like th"],
        ["Like this:"],
        ["Like this:", "x = 1"],
        ["Like this:", "x = 1\ny = 2"],
        ["Like this:", "x = 1\ny = 2", "Done."],
    ]
    assert last_answer(window)._state.text() == "writing"


def test_stop_by_key_and_by_button(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    line.says(created("resp_1"))
    line.says(delta("Half"))
    key(window, Qt.Key.Key_Escape, Qt.KeyboardModifier.ShiftModifier)
    assert line.all(ResponseCancel)[-1].response_id == "resp_1"
    assert last_answer(window)._state.text() == "stopped"
    ask(window, "Two?")
    stop = button(window, "Stop")
    stop.setFocus()
    key(window, Qt.Key.Key_Space)
    assert len(line.all(ResponseCancel)) == 2
    assert not stop.isVisible()
    assert window.conversation.composer.field.hasFocus()


def test_a_lost_line_is_said_and_ask_again_does(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    line.says(created("resp_1"))
    line.says(delta("Half of"))
    line.state.emit(LineState("waiting", attempt=1))
    cut = last_answer(window)
    assert (cut._state.text(), parts(cut)) == ("cut off", ["Half of"])
    assert cut._note.text() == "The line was lost. What had come is kept."
    line.up()
    again = button(window, "Ask again")
    again.setFocus()
    key(window, Qt.Key.Key_Space)
    assert not again.isVisible()
    assert window.conversation.composer.field.hasFocus()
    answer(line, "Whole.", "resp_2")
    assert parts(last_answer(window)) == ["Whole."]


def test_a_failure_says_how_to_mend_it(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    line.says(created("resp_1"))
    line.says(failed("resp_1", "There is no deep model. Fetch it with `offhook models fetch deep`."))
    shown = last_answer(window)
    assert shown._state.text() == "failed"
    assert shown._note.text().startswith("There is no deep model.")


def test_what_the_model_does_is_said_while_nothing_comes(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    line.says(ServerStatus("ready", "small", models=[ModelStatus(name="q15", role="deep", state="starting")]))
    assert last_answer(window)._state.text() == "starting the model"


def test_enter_and_escape_belong_to_the_input_method(show: Show, line: FakeLine) -> None:
    window = show()
    key(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    field = window.conversation.composer.field
    QApplication.sendEvent(field, QInputMethodEvent("ni", []))
    key(window, Qt.Key.Key_Return)
    key(window, Qt.Key.Key_Escape)
    assert field.hasFocus()
    assert line.all(ResponseCreate) == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("你好")
    QApplication.sendEvent(field, commit)
    key(window, Qt.Key.Key_Return)
    assert asked(line).endswith("你好")


def test_shift_enter_breaks_the_line_and_the_field_grows(show: Show, line: FakeLine) -> None:
    window = show()
    key(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    composer = window.conversation.composer
    least = composer._frame.height()
    for word in ("one", "two", "three", "four"):
        QTest.keyClicks(composer.field, word)
        key(window, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert composer.text == "one\ntwo\nthree\nfour\n"
    assert least == 68
    assert least < composer._frame.height() <= 200
    key(window, Qt.Key.Key_Return)
    assert line.all(ResponseCreate)[-1].input
    assert composer._frame.height() == 68


def test_a_draft_and_the_history_survive_the_window(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    answer(line, "Yes.")
    key(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.conversation.composer.field, "half a quest")
    assert window.close()
    again = show()
    assert again.conversation.isVisible()  # as it was left
    assert again.conversation.composer.text == "half a quest"
    assert parts(last_answer(again)) == ["Yes."]
    assert parts(again.conversation.transcript.findChildren(Question)[-1]) == ["One?"]


def test_clear_takes_two_presses_and_is_real(show: Show, line: FakeLine, tmp_path: Path) -> None:
    window = show()
    ask(window, "heron on the quay")
    answer(line, "Yes.")
    clear = window.conversation._clear
    clear.setFocus()
    key(window, Qt.Key.Key_Space)
    assert clear.text() == "Press again to clear all"
    key(window, Qt.Key.Key_Space)
    assert window.conversation.transcript.findChildren(Answer)[-1].isHidden()
    assert window.conversation.examples.isVisible()
    assert window.conversation.composer.field.hasFocus()
    assert window.close()
    assert not any(b"heron" in file.read_bytes() for file in (tmp_path / "data").iterdir())


def test_the_first_press_of_clear_is_forgotten(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    window.conversation._sure.setInterval(1)
    window.conversation._clear.click()
    window.conversation._sure.timeout.emit()
    assert window.conversation._clear.text() == "Clear"


def test_three_examples_are_made_from_the_file(show: Show, line: FakeLine, qtbot: QtBot) -> None:
    window = show()
    key(window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "fetch" in window.conversation.examples._buttons[0].text())
    button(window, "What does fetch do?").click()
    assert window.conversation.composer.text == "What does `fetch` do?"
    assert window.conversation.composer.field.hasFocus()
    key(window, Qt.Key.Key_Return)
    assert asked(line).endswith("What does `fetch` do?")
    (question,) = window.conversation.transcript.findChildren(Question)
    assert parts(question)[0].replace(THIN, "") == "What does fetch do?"


def test_the_chip_follows_the_selection_and_can_be_taken_away(show: Show, line: FakeLine, qtbot: QtBot) -> None:
    window = show("\n".join(f"x{n} = {n}" for n in range(200)), (100, 0))
    key(window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    chip = window.conversation.composer.chip
    qtbot.waitUntil(lambda: chip._words.startswith("a.py · lines 81–120 · ~"))
    for _ in range(3):
        key(window, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: chip._words.startswith("a.py · lines 101–103 · ~"))
    ask(window, "One?")
    assert asked(line).startswith("Lines 101 to 103 of a.py:\n\n```python\nx100 = 100\nx101 = 101\nx102 = 102\n```")
    chip._what.setFocus()
    key(window, Qt.Key.Key_Space)
    assert chip._words.startswith("a.py · whole file")
    chip._remove.setFocus()
    key(window, Qt.Key.Key_Space)
    assert chip._words == "a.py"
    assert chip._what.hasFocus()
    ask(window, "Two?")
    assert asked(line) == "Two?"
    chip._what.setFocus()
    key(window, Qt.Key.Key_Space)
    assert "tokens" in chip._words


def test_the_chip_says_what_there_is_room_for(show: Show, line: FakeLine) -> None:
    window = show("\n".join(f"x{n} = {n}" for n in range(200)), (0, 0))
    key(window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    chip, said = window.conversation.composer.chip, []
    for room_px in (400, 220, 150, 100):
        chip.fit(room_px)
        said.append(chip._what.text())
    assert said[:3] == ["a.py · lines 1–40 · ~97 tokens", "a.py · 1–40 · ~97 tokens", "a.py · 1–40"]
    assert "…" in said[3]


def test_a_secret_file_never_goes_along(show: Show, line: FakeLine) -> None:
    window = show("KEY=heron", (0, 0), ".env")
    ask(window, "What is it?")
    assert window.conversation.composer.chip._words == ".env · never sent"
    assert asked(line) == "What is it?"


def test_new_text_below_is_counted_and_not_scrolled_to(show: Show, line: FakeLine) -> None:
    window = show()
    transcript = window.conversation.transcript
    ask(window, "One?")
    answer(line, "word\n\n" * 60)
    ask(window, "Two?")
    last_answer(window)
    bar = transcript.verticalScrollBar()
    QTest.qWait(0)
    assert bar.value() == bar.maximum()
    key(window, Qt.Key.Key_PageUp)
    at = bar.value()
    assert at < bar.maximum()
    line.says(created("resp_2"))
    line.says(delta("more\n\n" * 10))
    last_answer(window)
    assert bar.value() == at
    assert transcript.pill_words == "1 new ↓"
    transcript._pill.setFocus()
    key(window, Qt.Key.Key_Space)
    assert bar.value() == bar.maximum()
    assert transcript.pill_words == ""


def test_only_the_newest_are_laid_out_until_asked_for(show: Show, line: FakeLine) -> None:
    window = show()
    for n in range(35):
        ask(window, f"{n}?")
        answer(line, "Yes.", f"resp_{n}")
    assert window.close()
    again = show()
    transcript = again.conversation.transcript
    assert len(transcript.findChildren(Answer)) == 30
    button(again, "Show 5 earlier").click()
    settle()
    assert len([turn for turn in transcript.findChildren(Answer) if not turn.isHidden()]) == 35


def test_where_the_memory_begins_is_marked(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "One?")
    answer(line, "x" * 3000)
    ask(window, "Two?")
    answer(line, "x" * 3000, "resp_2")
    assert window.conversation.transcript._divider.isHidden()
    ask(window, "Three?")
    assert window.conversation.transcript._divider.isVisible()


def test_what_cannot_be_kept_is_said_and_the_talk_goes_on(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    window = MainWindow(line, theme=DARK, history_file=tmp_path / "data" / "conversations.sqlite")
    qtbot.addWidget(window)
    window.show()
    window.toggle_conversation()
    line.up()
    assert window.conversation._trouble.isVisible()
    assert "not kept" in window.conversation._trouble.text()
    window.conversation._ask("One?")
    answer(line, "Yes.")
    assert parts(last_answer(window)) == ["Yes."]


def test_where_only_one_has_room_it_is_one_at_a_time(show: Show, line: FakeLine, qtbot: QtBot) -> None:
    window = show()
    window.resize(720, 600)
    qtbot.waitUntil(lambda: window.width() == 720)
    assert window.file
    ask(window, "One?")
    assert not window.file.view.isVisible()
    qtbot.waitUntil(lambda: window.conversation.width() == 720)
    key(window, Qt.Key.Key_Escape)
    assert window.file.view.isVisible()
    assert window.file.view.hasFocus()
    assert not window.conversation.isVisible()
    key(window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    assert window.conversation.composer.field.hasFocus()
    window.resize(1100, 600)
    qtbot.waitUntil(window.file.view.isVisible)
    window.file.view.setFocus()
    window.resize(720, 600)
    qtbot.waitUntil(window.conversation.composer.field.hasFocus)


def test_the_line_between_is_one_pixel_and_can_be_grabbed_beside_it(show: Show, line: FakeLine) -> None:
    window = show()
    key(window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    assert window.conversation.width() == 416
    handle = window.sides.handle(1)
    settle()
    assert handle.contentsRect().width() == 1
    assert handle.width() == 8
    middle = QPoint(1, 300)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseMove(handle, middle - QPoint(60, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle - QPoint(60, 0))
    width = window.conversation.width()
    assert width > 440
    assert window.close()
    again = show()
    assert again.conversation.width() == width


def test_another_folder_has_another_conversation(show: Show, line: FakeLine, tmp_path: Path) -> None:
    window = show()
    ask(window, "One?")
    other = tmp_path / "other" / "b.py"
    other.parent.mkdir()
    other.write_text("y = 2\n")
    assert window.open_path(other)
    assert [e.question for e in window.conversation.driver.exchanges] == ["One?"]  # it still runs
    answer(line, "Yes.")
    assert window.open_path(tmp_path / "a.py")
    assert window.open_path(other)
    assert window.conversation.driver.exchanges == []


def test_themes_change_and_every_control_has_a_name(show: Show, line: FakeLine) -> None:
    window = show()
    ask(window, "How?")
    answer(line, ANSWER)
    last_answer(window)
    for theme in (LIGHT, DARK):
        window.set_theme(theme)
        shot = window.grab().toImage()
        place = window.conversation.mapTo(window, QPoint(8, 300))
        assert shot.pixelColor(place).name() == theme.chrome
        assert parts(last_answer(window))[0] == "It gives back what it got."
    for child in window.conversation.findChildren(QWidget):
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus and not child.isHidden():
            assert child.accessibleName() or getattr(child, "text", str)(), child
