"""The window as the X server sees a person: real key events from outside, and the bytes on the disk at the end."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from offhook_app.panels.window import MainWindow
from offhook_wire.messages import Suggest
from support.fake_line import FakeLine

pytestmark = pytest.mark.window


@pytest.fixture
def xdotool(qtbot: QtBot, screen: str) -> Callable[..., None]:
    """The window goes on while xdotool runs: for a sign that is on no key it changes the keyboard for a moment."""

    def ran(*words: str) -> None:
        process = subprocess.Popen(["xdotool", *words], env={"DISPLAY": screen, "LC_ALL": "C.UTF-8"})
        qtbot.waitUntil(lambda: process.poll() is not None, timeout=30_000)
        assert process.returncode == 0

    return ran


def test_type_see_take_a_word_undo_save(
    qtbot: QtBot, line: FakeLine, xdotool: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"import os\r\n")
    window = MainWindow(line, drafts_folder=tmp_path / "drafts")
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    line.up()
    assert window.open_path(path, (1, 0))
    assert window.file
    view, file = window.file.view, window.file
    xdotool("windowactivate", "--sync", str(int(window.winId())))
    qtbot.waitUntil(view.hasFocus)

    xdotool("type", "--delay", "5", "os.path.")
    qtbot.waitUntil(lambda: file.text == "import os\nos.path.")
    qtbot.waitUntil(lambda: bool(line.all(Suggest)) and line.newest_suggest().position.character == 8)
    line.answers("join(a, b)\nprint(c)")
    qtbot.waitUntil(lambda: view.ghost.text == "join(a, b)\nprint(c)")
    xdotool("key", "ctrl+Right")
    qtbot.waitUntil(lambda: "os.path.join" in file.text)
    assert view.ghost.text == "(a, b)\nprint(c)"
    xdotool("key", "ctrl+Return")
    qtbot.waitUntil(lambda: "os.path.join(a, b)" in file.text)
    xdotool("key", "ctrl+z")
    qtbot.waitUntil(lambda: file.text.endswith("os.path.join"))
    assert view.ghost.text == ""
    xdotool("type", "--delay", "100", "é")
    qtbot.waitUntil(lambda: file.text.endswith("é"))
    xdotool("key", "ctrl+s")
    qtbot.waitUntil(lambda: not file.unsaved)
    assert path.read_bytes() == "import os\r\nos.path.joiné".encode()
