"""The suggest bench's typist types what the trace says, and its watch sees every key painted and every ghost once."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from offhook_app.bench.person import Person, read_keys
from offhook_app.bench.watch import Request, Seen
from offhook_app.panels.window import MainWindow
from offhook_wire.text import Point, Text
from support.fake_line import FakeLine

pytestmark = pytest.mark.window

EDITS = 400  # with corrections, a paste and a jump among them


def test_the_trace_is_typed_as_it_was_written(qtbot: QtBot, line: FakeLine, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("first\n\nlast\n")
    window = MainWindow(line, drafts_folder=tmp_path / "drafts")
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    assert window.open_path(path, (1, 0))
    assert window.file
    person = Person(window.file.view, first_line=1)
    pressed = [person.presses(longest_gap_ms=0) for _ in range(EDITS)]
    assert pressed.count(False) < EDITS / 10
    expected = Text("first\n\nlast\n")
    for key in read_keys()[:EDITS]:
        expected.replace(Point(1 + key.line, key.column), Point(1 + key.end_line, key.end_column), key.text)
    assert window.file.text == str(expected)


def test_a_request_is_wasted_when_its_last_word_came_unseen() -> None:
    seen = Seen(requests=[Request(0.0), Request(0.0, painted=True), Request(0.0, sources_left=set())])
    assert len(seen.ended) == 2
    assert seen.wasted == 1
