"""Typed questions through the whole app: real window, real line, real server with the null engine, processes killed.

The question says what it wants to be answered: `[[say: …]]` is the null engine's language (backends.null).
"""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from offhook_app.settings import Settings
from offhook_app.state.exchange import Exchange
from offhook_app.wiring import App

pytestmark = pytest.mark.window

LIMIT_MS = 30_000


class Asker:
    """At the composer of one app."""

    def __init__(self, qtbot: QtBot, app: App, runtime: Path) -> None:
        self._qtbot = qtbot
        self._runtime = runtime
        self.app = app

    def waits_until(self, condition: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(condition, timeout=LIMIT_MS)

    def asks(self, question: str) -> None:
        self.app.window.ask()
        field = self.app.window.conversation.composer.field
        QTest.keyClicks(field, question)
        QTest.keyClick(field, Qt.Key.Key_Return)

    @property
    def last(self) -> Exchange:
        return self.app.window.conversation.driver.exchanges[-1]

    def hears(self, text: str) -> None:
        self.waits_until(lambda: self.last.answer.startswith(text))

    def kills(self, victim: str) -> None:
        """Every process of that kind, as the system would for want of memory."""
        server = psutil.Process(json.loads((self._runtime / "server.json").read_text())["pid"])
        family = [server] if victim == "server" else server.children(recursive=True)
        for process in family:
            if victim == "server" or victim in " ".join(process.cmdline()):
                os.kill(process.pid, signal.SIGKILL)


@pytest.fixture
def asker(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[], Asker]]:
    """Sits down before an app with one file; may do so again after the first has closed."""
    apps: list[App] = []
    path = tmp_path / "folder/a.py"
    path.parent.mkdir()
    path.write_text("def fetch(url):\n    return url\n")

    def sits_down() -> Asker:
        app = App(Settings(tmp_path / "run", tmp_path / "data", ("--engine", "null"), linger_s=0.5), path.parent)
        apps.append(app)
        qtbot.addWidget(app.window)
        app.start()
        qtbot.waitExposed(app.window)
        assert app.window.open_path(path, (1, 4))
        return Asker(qtbot, app, tmp_path / "run")

    yield sits_down
    server = psutil.Process(json.loads((tmp_path / "run/server.json").read_text())["pid"])
    family = [server, *server.children(recursive=True)]
    for app in apps:
        app.window.close()
        app.stop()
    _, alive = psutil.wait_procs(family, timeout=LIMIT_MS / 1000)
    assert not alive


def test_asked_answered_built_upon_and_stopped(asker: Callable[[], Asker]) -> None:
    user = asker()
    user.asks("What? [[say: It returns its argument.]]")
    user.waits_until(lambda: user.last.stage == "done")
    assert user.last.answer == "It returns its argument."
    user.asks("And? [[say: Nothing else.]]")
    user.waits_until(lambda: user.last.stage == "done")
    assert user.last.answer == "Nothing else."
    user.asks("What? [[say: Half of]] [[hang]]")
    user.hears("Half of")
    user.app.window.conversation.driver.stop()
    assert user.last.stage == "stopped"
    user.asks("And now? [[say: All of it.]]")
    user.waits_until(lambda: user.last.stage == "done")
    assert user.last.answer == "All of it."


@pytest.mark.parametrize(("victim", "stage"), [("server", "cut"), ("worker --fd", "failed")])
def test_a_kill_in_mid_answer_keeps_what_had_come(asker: Callable[[], Asker], victim: str, stage: str) -> None:
    user = asker()
    user.asks("What? [[say: Half of]] [[hang]]")
    user.hears("Half of")
    user.kills(victim)
    user.waits_until(lambda: not user.last.running)
    assert (user.last.stage, user.last.answer) == (stage, "Half of")
    assert user.last.note
    user.asks("And now? [[say: All of it.]]")
    user.waits_until(lambda: user.last.stage == "done")
    assert user.last.answer == "All of it."


def test_a_window_that_closes_in_mid_answer_is_found_as_it_was(asker: Callable[[], Asker]) -> None:
    user = asker()
    user.asks("What? [[say: Half of]] [[hang]]")
    user.hears("Half of")
    assert user.app.window.close()
    user.app.stop()
    user = asker()
    assert (user.last.stage, user.last.answer) == ("stopped", "Half of")
    user.asks("And now? [[say: All of it.]]")
    user.waits_until(lambda: user.last.stage == "done")
