"""The suggest bench's part in the window, a few keys long: the real window, line and server process, the null engine."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from offhook_app.bench.suggest import Plan, Trial

pytestmark = pytest.mark.window

TINY = Plan(blocks=1, block_keys=5, copy_keys=5, small_keys=4, keys_a_stop=4, longest_stop_s=30.0)


def test_every_part_sees_its_keys(qtbot: QtBot, tmp_path: Path) -> None:
    found = Trial(tmp_path, ("--engine", "null")).run(TINY)
    assert found["keys"] == {"on": 5, "off": 5, "copy": 5, "small": 4}
    for blocks in (found["paint_on_ms"], found["paint_off_ms"]):
        assert isinstance(blocks, list)
        assert [len(block) for block in blocks] == [5]
    requests, wasted = found["requests"], found["wasted"]
    assert isinstance(requests, int)
    assert isinstance(wasted, int)
    assert 0 <= wasted <= requests <= 4
