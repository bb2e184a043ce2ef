"""The window as a person meets it: words, notices, files that change, drafts, themes, a scale of 1.5."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from offhook_app.panels.notice import NoticeBar
from offhook_app.panels.window import MainWindow
from offhook_app.state.line_state import LineState
from offhook_app.state.theme import DARK, LIGHT
from offhook_wire.messages import (
    DocumentDidClose,
    DocumentDidOpen,
    ModelFetch,
    ModelStatus,
    ModelStop,
    ServerStatus,
    Suggest,
)
from support.fake_line import FakeLine

pytestmark = pytest.mark.window


def shown(qtbot: QtBot, line: FakeLine, drafts: Path | None = None) -> MainWindow:
    window = MainWindow(line, theme=DARK, drafts_folder=drafts)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    line.up()
    return window


def edited(qtbot: QtBot, window: MainWindow, path: Path, keys: str) -> None:
    assert window.open_path(path, (0, 0))
    assert window.file
    QTest.keyClicks(window.file.view, keys)


def ways(bar: NoticeBar) -> dict[str, QAbstractButton]:
    return {button.text(): button for button in bar._buttons}


def test_with_nothing_open_it_says_how_to_begin(qtbot: QtBot, line: FakeLine) -> None:
    window = shown(qtbot, line)
    assert window.empty.isVisible()
    assert not window.path_row.isVisible()
    assert window.status.line_words == "On the line · 0.8 ms"
    qtbot.waitUntil(lambda: window.status.suggestion.text() == "Suggestions: open a file")


@pytest.mark.parametrize("content", [b"a\r\nb\nc\r\n", b"\xef\xbb\xbfx = 1\r\n", b"x"])
def test_edit_undo_save_gives_the_bytes_back(qtbot: QtBot, line: FakeLine, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(content)
    window = shown(qtbot, line)
    edited(qtbot, window, path, "q")
    assert window.file
    QTest.keyClick(window.file.view, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    bom = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
    assert path.read_bytes() == bom + b"q" + content.removeprefix(bom)
    assert not window.file.unsaved
    window.file.view.undo()
    window.save()
    assert path.read_bytes() == content


def test_a_file_changed_by_others_asks_where_the_work_is(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\n")
    window = shown(qtbot, line)
    edited(qtbot, window, path, "q")
    path.write_text("theirs\n")
    qtbot.waitUntil(lambda: window.notices.words == "a.py changed on disk.")
    window.save()
    assert path.read_text() == "theirs\n"
    assert list(ways(window.notices)) == ["Reload", "Keep mine"]
    ways(window.notices)["Keep mine"].click()
    assert path.read_text() == "qone\n"
    assert window.notices.words == ""
    path.write_text("again\n")
    qtbot.waitUntil(lambda: window.notices.words != "")
    ways(window.notices)["Reload"].click()
    assert window.file
    assert window.file.text == "again\n"
    assert not window.file.unsaved
    window.file.view.undo()
    assert window.file.text == "qone\n"


def test_closing_keeps_a_draft_and_opening_brings_it_back(
    qtbot: QtBot, line: FakeLine, tmp_path: Path, drafts_folder: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\n")
    window = shown(qtbot, line, drafts_folder)
    edited(qtbot, window, path, "q")
    assert window.close()
    assert path.read_text() == "one\n"
    assert isinstance(line.sent[-1], DocumentDidClose)
    again = shown(qtbot, line, drafts_folder)
    assert again.open_path(path)
    assert again.file
    assert again.file.text == "qone\n"
    assert again.file.unsaved
    assert line.all(DocumentDidOpen)[-1].text == "qone\n"
    assert again.notices.words == "Your unsaved edits from last time are back."
    again.save()
    assert path.read_text() == "qone\n"
    assert list(drafts_folder.iterdir()) == []


def test_a_draft_goes_with_the_edits_it_holds(
    qtbot: QtBot, line: FakeLine, tmp_path: Path, drafts_folder: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\n")
    window = shown(qtbot, line, drafts_folder)
    edited(qtbot, window, path, "q")
    assert window.file
    window.file.keep_draft()
    window.file.view.undo()
    qtbot.waitUntil(lambda: list(drafts_folder.iterdir()) == [])
    QTest.keyClicks(window.file.view, "r")
    assert window.close()
    again = shown(qtbot, line, drafts_folder)
    assert again.open_path(path)
    ways(again.notices)["Use the file on disk"].click()
    assert list(drafts_folder.iterdir()) == []
    assert again.file
    assert again.file.text == "one\n"


def test_opening_the_open_file_only_goes_there(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\ntwo\n")
    window = shown(qtbot, line)
    edited(qtbot, window, path, "q")
    assert window.open_path(path, (1, 2))
    assert window.file
    assert window.file.text == "qone\ntwo\n"
    assert len(line.all(DocumentDidOpen)) == 1
    assert window.open_path(path)
    assert window.file.view.textCursor().blockNumber() == 1


def test_unsaved_text_is_on_the_disk_before_anything_can_end_the_app(
    qtbot: QtBot, line: FakeLine, tmp_path: Path, drafts_folder: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\n")
    window = shown(qtbot, line, drafts_folder)
    edited(qtbot, window, path, "q")
    qtbot.waitUntil(lambda: drafts_folder.exists() and bool(list(drafts_folder.glob("*.json"))))


def test_a_window_that_cannot_keep_the_draft_does_not_close(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path, folder = tmp_path / "a.py", tmp_path / "drafts"
    path.write_text("one\n")
    folder.write_text("in the way")
    window = shown(qtbot, line, folder)
    edited(qtbot, window, path, "q")
    assert not window.close()
    assert "draft could not be kept" in window.notices.words
    window.save()
    assert window.close()


def test_saving_that_fails_keeps_the_text(
    qtbot: QtBot, line: FakeLine, tmp_path: Path, drafts_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\n")
    window = shown(qtbot, line, drafts_folder)
    edited(qtbot, window, path, "q")

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        window.save()
    assert window.notices.words == "Not saved: the disk is full. Your text is kept as a draft."
    assert len(list(drafts_folder.iterdir())) == 1
    ways(window.notices)["Try again"].click()
    assert path.read_text() == "qone\n"
    assert window.notices.words == ""


def test_what_cannot_be_opened_leaves_what_is_open(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    good, bad = tmp_path / "a.py", tmp_path / "b.py"
    good.write_text("one\n")
    bad.write_bytes(b"\xff")
    window = shown(qtbot, line)
    assert window.open_path(good)
    assert not window.open_path(bad)
    assert "not UTF-8" in window.notices.words
    assert window.file
    assert window.file.path == good


def test_text_that_qt_would_change_is_read_only(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x\u2029y\n")
    window = shown(qtbot, line)
    edited(qtbot, window, path, "q")
    window.save()
    assert path.read_text() == "x\u2029y\n"
    assert "read-only" in window.notices.words


def test_a_secret_file_is_never_sent(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("API_KEY=abc")
    window = shown(qtbot, line)
    edited(qtbot, window, path, "d")
    assert line.sent == []
    qtbot.waitUntil(lambda: window.status.suggestion.text() == "No suggestion: .env is never sent")


def about(state: Literal["absent", "downloading", "asleep", "failed"], **more: object) -> ServerStatus:
    """The server's word, with the small model in this state and the large one not here."""
    small = ModelStatus("small", "fast", "absent", None, "", 491_400_064, "Apache-2.0", "the hub", "/srv/models")
    large = structs.replace(small, name="large", role="deep", size_bytes=1_117_320_768)
    return ServerStatus("absent", "small", models=[structs.replace(small, state=state, **more), large])


def test_the_model_is_fetched_only_when_asked_and_can_be_stopped(qtbot: QtBot, line: FakeLine) -> None:
    window = shown(qtbot, line)
    line.says(about("absent"))
    assert window.notices.detail == "small · 491 MB · Apache-2.0 · from the hub · into /srv/models"
    assert list(ways(window.notices)) == ["Fetch", "Not now"]
    assert line.all(ModelFetch) == []
    ways(window.notices)["Fetch"].click()
    assert line.all(ModelFetch) == [ModelFetch("small")]
    line.says(about("downloading", share=0.5))
    assert window.notices.words == "Fetching small: 246 of 491 MB"
    assert window.status.download.text() == "Downloading small 50 %"
    stop = ways(window.notices)["Stop"]
    line.says(about("downloading", share=0.6))
    assert ways(window.notices)["Stop"] is stop
    stop.click()
    assert line.all(ModelStop) == [ModelStop("small")]
    line.says(about("absent"))
    assert list(ways(window.notices)) == ["Go on", "Not now"]
    ways(window.notices)["Go on"].click()
    line.says(about("asleep"))
    assert window.notices.words == ""
    line.says(about("failed", detail="The model file is damaged."))
    assert window.notices.words == "The model file is damaged."


def test_the_whole_offer_can_be_read_in_the_smallest_window(qtbot: QtBot, line: FakeLine) -> None:
    window = shown(qtbot, line)
    window.resize(window.minimumSize())
    line.says(about("absent", folder="/srv/" + "models/" * 12))
    detail = window.notices._detail
    qtbot.waitUntil(lambda: detail.height() >= detail.heightForWidth(detail.width()) > 0)


def test_the_deep_model_is_offered_with_its_first_use(qtbot: QtBot, line: FakeLine) -> None:
    window = shown(qtbot, line)
    line.says(about("asleep"))
    assert window.notices.words == ""
    window.conversation.composer.asked.emit("Why?")
    assert window.notices.detail.startswith("large · 1,117 MB")
    ways(window.notices)["Not now"].click()
    assert window.notices.words == ""
    assert line.all(ModelFetch) == []


def test_a_lost_line_is_said_and_taken_back(qtbot: QtBot, line: FakeLine) -> None:
    window = shown(qtbot, line)
    line.state.emit(LineState("waiting", retry_in_s=3, attempt=2))
    assert window.status.line_words == "Off the line · trying again in 3 s (2nd try)"
    assert window.notices.words == "Off the line. Editing and saving work; suggestions wait."
    line.up()
    assert window.notices.words == ""


def test_a_newer_sentence_waits_until_the_last_was_read(qtbot: QtBot, line: FakeLine) -> None:
    window = shown(qtbot, line)
    words = window.status.suggestion
    qtbot.waitUntil(lambda: words.text() != "")
    words._since = 0.0
    words.say("one")
    words.say("two")
    words.say("three")
    assert words.text() == "one"
    qtbot.waitUntil(lambda: words.text() == "three")


def test_themes_change_in_place(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = None\n")
    window = shown(qtbot, line)
    assert window.open_path(path)
    for theme in (LIGHT, DARK):
        window.set_theme(theme)
        shot = window.grab().toImage()
        assert shot.pixelColor(500, 300).name() == theme.editor
        assert shot.pixelColor(500, 10).name() == theme.chrome


def test_every_button_has_a_name_and_code_can_grow(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x")
    window = shown(qtbot, line)
    assert window.open_path(path)
    assert window.file
    for button in window.findChildren(QAbstractButton):
        assert button.text() or button.accessibleName()
    size = window.file.view.font().pixelSize()
    QTest.keyClick(window.file.view, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert window.file.view.font().pixelSize() == size + 1


def test_opening_another_file_closes_the_first(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    window = shown(qtbot, line)
    for name in ("a.py", "b.txt"):
        (tmp_path / name).write_text("x")
        assert window.open_path(tmp_path / name, (0, 1))
    assert window.file
    opened = [message.uri.rsplit("/", 1)[1] for message in line.all(DocumentDidOpen)]
    assert opened == ["a.py", "b.txt"]
    assert [message.uri.rsplit("/", 1)[1] for message in line.all(DocumentDidClose)] == ["a.py"]
    QTest.keyClicks(window.file.view, "y")
    assert [s.uri.rsplit("/", 1)[1] for s in line.all(Suggest)] == ["b.txt"]


SCALED = """
import sys
from PySide6.QtWidgets import QApplication
app = QApplication([])
from offhook_app.panels.window import MainWindow
from support.fake_line import FakeLine
window = MainWindow(FakeLine())
window.show()
app.processEvents()
shot = window.grab()
print(shot.devicePixelRatio(), shot.width())
"""


def test_it_draws_at_one_and_a_half(screen: str, window_manager: None) -> None:
    environment = {
        **os.environ,
        "DISPLAY": screen,
        "QT_QPA_PLATFORM": "xcb",
        "QT_SCALE_FACTOR": "1.5",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run([sys.executable, "-c", SCALED], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1.5", "1650"]
