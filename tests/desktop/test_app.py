"""The whole app: the real window, the real line, the real server process with the null engine, real key events.

The file asks for what it wants to be suggested: `[[say: …]]` is the null engine's language (backends.null).
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import psutil
import pytest
from pytestqt.qtbot import QtBot

from offhook_app.editor.view import CodeView
from offhook_app.settings import Settings
from offhook_app.state.accepting import LEAST_SEEN_S
from offhook_app.wiring import App

pytestmark = pytest.mark.window

LIMIT_MS = 30_000
ASKS = "# [[say: alpha(beta, gamma)]]\r\nx = 1\r\n"
HANGS = "# [[say: alpha]] [[hang]]\r\nx = 1\r\n"


class Person:
    """At the keyboard of one app. Keys go through the X server, like anybody's."""

    def __init__(self, qtbot: QtBot, app: App, path: Path) -> None:
        self._qtbot = qtbot
        self.app = app
        self.window = app.window
        assert self.window.open_path(path, (2, 0))
        assert self.window.file
        self.view: CodeView = self.window.file.view

    def waits_until(self, condition: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(condition, timeout=LIMIT_MS)

    def _xdotool(self, *arguments: str) -> None:
        done = subprocess.Popen(["xdotool", *arguments])
        self.waits_until(lambda: done.poll() is not None)
        assert done.returncode == 0

    def comes_to_the_window(self) -> None:
        self._xdotool("windowactivate", "--sync", str(int(self.window.winId())))
        self.waits_until(self.view.hasFocus)

    def types(self, text: str) -> None:
        before = len(self.text)
        self._xdotool("type", "--delay", "30", text)
        self.waits_until(lambda: len(self.text) >= before + len(text))

    def presses(self, *keys: str) -> None:
        self._xdotool("key", *keys)

    @property
    def text(self) -> str:
        assert self.window.file
        return self.window.file.text

    @property
    def ghost(self) -> str:
        return self.view.ghost.text

    @property
    def line(self) -> str:
        return self.window.status.line_words


@pytest.fixture
def person(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[str], Person]]:
    """Sits down before an app with one file; afterwards nothing of app and server may be left."""
    apps: list[App] = []
    runtime = tmp_path / "run"
    family: list[psutil.Process] = []

    def sits_down(content: str) -> Person:
        path = tmp_path / "folder/a.py"
        path.parent.mkdir()
        path.write_bytes(content.encode())
        app = App(Settings(runtime, tmp_path / "data", ("--engine", "null"), linger_s=0.5), path.parent)
        apps.append(app)
        qtbot.addWidget(app.window)
        app.start()
        qtbot.waitExposed(app.window)
        person = Person(qtbot, app, path)
        person.comes_to_the_window()
        person.waits_until(lambda: person.line.startswith("On the line ·") and "starting" not in person.line)
        family.extend(processes(runtime))
        return person

    yield sits_down
    family.extend(processes(runtime))
    for app in apps:
        app.window.close()
        app.stop()
    _, alive = psutil.wait_procs(family, timeout=LIMIT_MS / 1000)
    assert not alive


def processes(runtime: Path) -> list[psutil.Process]:
    """The server that is found, then its workers."""
    server = psutil.Process(json.loads((runtime / "server.json").read_text())["pid"])
    return [server, *server.children(recursive=True)]


def test_types_sees_accepts_a_word_undoes_and_saves(person: Callable[[str], Person], tmp_path: Path) -> None:
    user = person(ASKS)
    user.types("value = ")
    user.waits_until(lambda: user.ghost == "alpha(beta, gamma)")
    assert user.text == "# [[say: alpha(beta, gamma)]]\nx = 1\nvalue = "
    user.presses("ctrl+Right")
    user.waits_until(lambda: user.text.endswith("value = alpha"))
    assert user.ghost == "(beta, gamma)"
    user.presses("ctrl+z")
    user.waits_until(lambda: user.text.endswith("value = "))
    assert user.ghost == ""
    user.presses("alt+backslash")
    user.waits_until(lambda: user.ghost == "alpha(beta, gamma)")
    user.types("al")
    user.waits_until(lambda: user.ghost == "pha(beta, gamma)")
    seen_at = monotonic()
    user.waits_until(lambda: monotonic() - seen_at > LEAST_SEEN_S)
    user.presses("Tab")
    user.waits_until(lambda: user.text.endswith("value = alpha(beta, gamma)"))
    user.presses("ctrl+s")
    saved = (ASKS + "value = alpha(beta, gamma)").encode()
    user.waits_until(lambda: (tmp_path / "folder/a.py").read_bytes() == saved)


@pytest.mark.parametrize("victim", ["server", "worker --fd", "index_worker"])
def test_a_kill_in_mid_suggestion_costs_no_character(
    person: Callable[[str], Person], tmp_path: Path, victim: str
) -> None:
    user = person(HANGS)
    user.types("value = ")
    user.waits_until(lambda: user.ghost == "alpha")
    family = processes(tmp_path / "run")
    killed = family[0] if victim == "server" else next(p for p in family if victim in " ".join(p.cmdline()))
    os.kill(killed.pid, signal.SIGKILL)
    user.types("other + things")
    user.presses("Return")
    user.types("done = 2")
    expected = HANGS.replace("\r\n", "\n") + "value = other + things\ndone = 2"
    assert user.text == expected
    user.waits_until(lambda: user.line.startswith("On the line ·") and "starting" not in user.line)
    user.types(" ")
    user.waits_until(lambda: user.ghost == "alpha")
    assert user.text == expected + " "
    user.presses("ctrl+s")
    saved = (expected + " ").replace("\n", "\r\n").encode()
    user.waits_until(lambda: (tmp_path / "folder/a.py").read_bytes() == saved)
