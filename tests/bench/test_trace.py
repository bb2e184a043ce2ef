"""The key trace is whole and looks like typing; a document replays it."""

from itertools import pairwise

import pytest

from offhook_server.bench.trace import Document, read_keys, typed_text
from offhook_server.bench.typist import Typist
from offhook_wire.text import Point, Text

pytestmark = pytest.mark.pure

SOURCE = ["def f(xyz):", "    if xyz:", "        return one(xyz)", "", "    return 2"] * 20


def test_it_is_long_and_holds_corrections_pastes_and_jumps() -> None:
    keys = read_keys()
    assert len(keys) >= 5000
    assert sum(not key.text for key in keys) >= 100
    assert sum(key.text.count("\n") > 1 for key in keys) >= 5
    assert sum(after.line < before.line for before, after in pairwise(keys)) >= 10
    assert all(key.gap_ms > 0 for key in keys)


def test_all_of_it_applies_and_leaves_plain_code() -> None:
    text = typed_text(read_keys())
    assert text.isascii()
    compile(text, "typed", "exec")


def test_a_document_has_the_context_a_request_wants() -> None:
    document = Document(read_keys(), 2000)
    assert len(document.opening) == 2000
    mirror, version = Text(document.opening), document.version
    for step in document.steps():
        mirror.replace(step.edit.start, step.edit.end, step.edit.text)
        version += 1
        assert step.version == version
        assert step.context == mirror.between(Point(0, 0), step.caret)[-2000:]
    assert str(mirror) == document.text


def test_the_typist_ends_with_the_text_it_was_given() -> None:
    for seed in range(20):
        typist = Typist(seed)
        typist.write(SOURCE)
        assert str(typist.text) == "\n".join([*SOURCE, ""])
        assert typed_text(typist.keys) == str(typist.text)
