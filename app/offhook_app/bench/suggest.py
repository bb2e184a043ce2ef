"""`offhook bench suggest`, the part that needs the window: the real window on a screen of its own, the real line, the real server.

Keys of the trace go in, times come out, and go on to offhook_server.bench.suggest, which measures the rest and reports.
Three parts, in a folder that holds what the trace types elsewhere too:

    paint    a file of 10,000 lines, typed into its middle; blocks of keys with suggestions on and off in turn. Off is
             what the product does while it has a reason to be silent (the editor without the keyboard's focus)
    copy     a new file, while the 0.5B decodes for somebody else without a pause; what is shown is dismissed before the
             next key, so that it asks again
    small    a new file in a folder that holds nothing like it; every few keys a stop until the answer is there
"""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QObject, QProcess
from PySide6.QtWidgets import QApplication

import offhook_wire
from offhook_app.bench.person import Person, pause
from offhook_app.bench.screen import NoScreen, screen
from offhook_app.bench.watch import Seen, Watch, WatchedLine
from offhook_app.panels.window import MainWindow
from offhook_app.settings import Settings
from offhook_app.transport.server_process import ServerProcess
from offhook_wire import reentry
from offhook_wire.messages import ServerEvent, ServerStatus

LINES = 10_000
LIMIT_S = 60.0
LOOK_EVERY_MS = 20
TYPED = ("text.py", "anchor.py")  # what the trace types


@dataclass(frozen=True, slots=True)
class Plan:
    """How many keys in each part; gaps are the trace's, but no longer than this."""

    blocks: int = 30  # of either kind
    block_keys: int = 104  # some of the trace are no keys
    paint_gap_ms: float = 45.0
    paint_budget_s: float = 430.0
    copy_keys: int = 400
    copy_gap_ms: float = 70.0
    small_keys: int = 330
    small_gap_ms: float = 400.0
    keys_a_stop: int = 6
    longest_stop_s: float = 4.0


QUICK = Plan(blocks=2, block_keys=10, copy_keys=24, small_keys=12, longest_stop_s=2.0)


class Failed(Exception):
    """The text is a sentence for the person."""


def run(*, as_json: bool, quick: bool) -> int:
    try:
        with screen() as display, TemporaryDirectory() as folder:
            application = QApplication(["offhook", "-platform", "xcb", "-display", display])
            application.setStyle("Fusion")
            found = Trial(Path(folder)).run(QUICK if quick else Plan())
    except (NoScreen, Failed) as e:
        sys.stderr.write(f"offhook bench: {e}\n")
        return 1
    command = reentry.command("offhook_server.bench", "suggest")
    command += ["--json"] * as_json + ["--quick"] * quick
    return subprocess.run(command, input=json.dumps(found).encode(), check=False).returncode


def wait(condition: Callable[[], bool], limit_s: float) -> bool:
    """Lets the window work until then; False when it took too long."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        pause(LOOK_EVERY_MS)
    return True


class Trial(QObject):
    """One window with one server of its own, from start to end.

    A QObject, so that what the line's thread has sent and nobody has received yet dies with it.
    """

    def __init__(self, folder: Path, server_arguments: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._project = folder / "project"
        self._project.mkdir()
        for name in TYPED:
            shutil.copy(Path(offhook_wire.__file__).parent / name, self._project / name)
        self._settings = Settings(folder / "run", folder / "data", server_arguments, linger_s=1.0)
        self._server = ServerProcess(self._settings)
        self._line = WatchedLine(self._server, [self._project.as_uri()])
        self._status: ServerStatus | None = None
        self._line.received.connect(self._received)
        self._window = MainWindow(self._line, drafts_folder=folder / "drafts")

    def _received(self, event: ServerEvent) -> None:
        if isinstance(event, ServerStatus):
            self._status = event

    def run(self, plan: Plan) -> dict[str, object]:
        self._line.start()
        self._window.show()
        try:
            on, off = self._paint(plan)
            copied = self._copy(plan)
            small = self._small(plan)
        finally:
            self._window.close()
            self._line.stop()
        return {
            "copy_ms": copied.ghost_ms["copy"],
            "copy_long_file_ms": [ms for seen in on for ms in seen.ghost_ms["copy"]],
            "small_ms": small.ghost_ms["small"],
            "paint_on_ms": [seen.paint_ms for seen in on],
            "paint_off_ms": [seen.paint_ms for seen in off],
            "late_on_ms": [ms for seen in on for ms in seen.late_ms],
            "late_off_ms": [ms for seen in off for ms in seen.late_ms],
            "requests": len(small.ended),
            "wasted": small.wasted,
            "keys": {
                "on": sum(s.keys for s in on),
                "off": sum(s.keys for s in off),
                "copy": copied.keys,
                "small": small.keys,
            },
        }

    def _long_text(self) -> str:
        """LINES of the standard library's, the one in the middle empty."""
        sources = sorted(Path(asyncio.__file__).parent.glob("*.py"))
        lines = (line for source in sources for line in source.read_text(encoding="utf-8").split("\n"))
        whole = list(islice(lines, LINES - 1))
        whole.insert(LINES // 2, "")
        return "\n".join(whole)

    def _open(self, name: str, text: str, line: int) -> tuple[Watch, Person]:
        path = self._project / name
        path.write_text(text, encoding="utf-8")
        if not self._window.open_path(path, (line, 0)) or self._window.file is None:
            raise Failed("The window did not open its file.")
        view = self._window.file.view
        self._window.activateWindow()
        if not wait(view.hasFocus, LIMIT_S):
            raise Failed("The window did not get the keyboard.")
        if not wait(lambda: self._ready, LIMIT_S):
            raise Failed("The 0.5B is not ready; run `offhook models fetch fast` first.")
        return Watch(view, self._line), Person(view, line)

    @property
    def _ready(self) -> bool:
        return self._status is not None and self._status.model == "ready" and self._status.index_ready

    def _paint(self, plan: Plan) -> tuple[list[Seen], list[Seen]]:
        watch, person = self._open("long.py", self._long_text(), LINES // 2)
        end = time.monotonic() + plan.paint_budget_s
        on: list[Seen] = []
        off: list[Seen] = []
        for number in range(2 * plan.blocks):
            wanted = number % 2 == 0
            if wanted and time.monotonic() > end:
                break
            watch.view.focus_changed.emit(wanted)
            watch.seen = Seen()
            (on if wanted else off).append(watch.seen)
            for _ in range(plan.block_keys):
                person.presses(plan.paint_gap_ms)
            watch.seen.late_ms = person.late_ms[-plan.block_keys :]
        watch.view.focus_changed.emit(True)
        return on, off

    def _copy(self, plan: Plan) -> Seen:
        watch, person = self._open("new.py", "\n", 0)
        load = QProcess()
        program, *arguments = reentry.command("offhook_server.bench.suggest_load")
        load.start(program, arguments)
        endpoint = asyncio.run(self._server.endpoint())
        load.write(json.dumps({"base_url": endpoint.base_url, "token": endpoint.token}).encode() + b"\n")
        try:
            if not wait(load.canReadLine, LIMIT_S):
                raise Failed("The 0.5B did not begin to decode.")
            for _ in range(plan.copy_keys):
                person.presses(plan.copy_gap_ms)
                if watch.view.ghost.text:
                    person.dismisses()
        finally:
            load.closeWriteChannel()
            load.waitForFinished()
        return watch.seen

    def _small(self, plan: Plan) -> Seen:
        for name in (*TYPED, "new.py"):
            (self._project / name).unlink()  # else the copy model would know all of it
        watch, person = self._open("other.py", "\n", 0)
        for number in range(plan.small_keys):
            person.presses(plan.small_gap_ms)
            if number % plan.keys_a_stop == plan.keys_a_stop - 1:
                wait(lambda: watch.answered, plan.longest_stop_s)
        return watch.seen
