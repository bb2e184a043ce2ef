"""What was said, on the disk: through a kill, in two windows, forgotten for good, and where nothing can be written."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from offhook_app.panels.history import MOST_LOADED, History, NotKept
from offhook_app.state.context import Context
from offhook_app.state.exchange import Exchange

pytestmark = pytest.mark.loopback

CONTEXT = Context("a.py", "python", 1, 1, 1, "x = 1")
MARKER = "heron-on-the-quay"
WRITES_UNTIL_KILLED = """
import sys
from itertools import count
from pathlib import Path
from offhook_app.panels.history import History
from offhook_app.state.exchange import Exchange
history = History(Path(sys.argv[1]))
for n in count(1):
    history.keep("folder", Exchange(n, f"question {n}", stage="sent"))
    print(n, flush=True)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations.sqlite"


def test_each_folder_has_its_own(file: Path) -> None:
    history = History(file)
    history.keep("one", Exchange(1, "Why?", CONTEXT, "Because.", "done"))
    history.keep("two", Exchange(1, "How?"))
    history.keep("one", Exchange(2, "And?"))
    history.keep("one", Exchange(2, "And?", answer="So."))
    history.keep_draft("one", "half a")
    history.keep_place("one", 420, shown=True)
    history.close()
    again = History(file)
    assert [(e.question, e.answer, e.context) for e in again.of("one")] == [
        ("Why?", "Because.", CONTEXT),
        ("And?", "So.", None),
    ]
    assert [e.question for e in again.of("two")] == ["How?"]
    assert (again.draft("one"), again.draft("two")) == ("half a", "")
    assert (again.place("one"), again.place("two")) == ((420, True), None)
    again.keep_draft("one", "")
    assert again.draft("one") == ""
    again.close()


def test_only_this_user_may_read_it(file: Path) -> None:
    history = History(file)
    history.keep("one", Exchange(1, MARKER))
    for place in (file, *file.parent.glob("conversations.sqlite-*")):
        assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0
    history.close()


def test_a_kill_loses_nothing_that_was_kept(file: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES_UNTIL_KILLED, str(file)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    told = 0
    while told < 50:
        told = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()
    told = int(rest[-1]) if rest else told
    process.stdout.close()
    process.wait()
    history = History(file)
    kept = history.of("folder")
    assert kept[-1].id >= told
    assert [e.id for e in kept] == list(range(max(1, kept[-1].id - MOST_LOADED + 1), kept[-1].id + 1))
    history.close()


def test_forgotten_is_gone_from_the_disk(file: Path) -> None:
    history = History(file)
    for n in range(200):
        history.keep("one", Exchange(n, f"{MARKER} {n} " + "x" * 2000))
    history.keep("two", Exchange(1, "stays"))
    history.forget("one")
    assert history.of("one") == []
    assert [e.question for e in history.of("two")] == ["stays"]
    for place in file.parent.iterdir():
        assert MARKER.encode() not in place.read_bytes()
    history.close()


def test_two_windows_share_it(file: Path) -> None:
    one, two = History(file), History(file)
    one.keep("folder", Exchange(1, "Why?"))
    assert [e.question for e in two.of("folder")] == ["Why?"]
    two.keep("folder", Exchange(2, "How?"))
    assert len(one.of("folder")) == 2
    one.close()
    two.close()


def test_what_another_version_wrote_is_left_out(file: Path) -> None:
    history = History(file)
    history.keep("folder", Exchange(1, "Why?"))
    database = sqlite3.connect(file)
    with database:
        database.execute("INSERT INTO exchange VALUES ('folder', 2, '{\"id\": \"two\"}')")
    database.close()
    assert [e.id for e in history.of("folder")] == [1]
    history.close()


def test_a_disk_that_keeps_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(NotKept, match="not kept"):
        History(tmp_path / "data" / "conversations.sqlite")
    (tmp_path / "broken").write_bytes(b"no database" * 1000)
    with pytest.raises(NotKept, match="not kept"):
        History(tmp_path / "broken")
    alone = History(None)
    alone.keep("folder", Exchange(1, "Why?"))
    assert len(alone.of("folder")) == 1
    alone.close()
    with pytest.raises(NotKept, match="cannot be written"):
        alone.keep("folder", Exchange(2, "How?"))
