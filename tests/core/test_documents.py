"""The server's copy is the app's text, or it is out of step and says so once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core.documents import MOST_DOCUMENTS, Documents, Reason
from offhook_wire.messages import (
    Change,
    DocumentDesync,
    DocumentDidChange,
    DocumentDidOpen,
    DocumentState,
    Position,
    Range,
)
from offhook_wire.text import ENCODINGS, Edit, Encoding, Point, Text, text_hash

pytestmark = pytest.mark.pure

URI = "file:///w/a.py"


def opening(text: str, version: int = 1, uri: str = URI) -> DocumentDidOpen:
    return DocumentDidOpen(uri, "python", version, text, text_hash(text))


def at(line: int, start: int, end: int, text: str) -> Change:
    return Change(Range(Position(line, start), Position(line, end)), text)


def change(base: int, *changes: Change, digest: str | None = None, uri: str = URI) -> DocumentDidChange:
    return DocumentDidChange(uri, base, base + 1, list(changes), digest)


def with_text(text: str) -> Documents:
    documents = Documents()
    assert documents.open(opening(text)) is None
    return documents


def text_of(documents: Documents, version: int) -> str | None:
    document = documents.current(URI, version)
    return str(document.text) if document else None


def test_changes_apply_in_order_each_to_what_the_one_before_left() -> None:
    documents = with_text("ab")
    edits = documents.change(change(1, at(0, 1, 1, "\n"), at(1, 0, 1, "c"), digest=text_hash("a\nc")))
    assert edits == [
        Edit(Point(0, 1), Point(0, 1), "\n", ""),
        Edit(Point(1, 0), Point(1, 1), "c", "b"),
    ]
    assert text_of(documents, 2) == "a\nc"
    assert text_of(documents, 1) is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (change(2, at(0, 0, 0, "x")), "version_gap"),
        (DocumentDidChange(URI, 1, 1, []), "version_gap"),
        (change(1, at(1, 0, 0, "x")), "range"),
        (change(1, at(0, 2, 0, "x")), "range"),
        (change(1, at(0, 1, 1, "x")), "range"),  # inside the emoji
        (change(1, at(0, 0, 0, "x"), digest="b2:other"), "hash"),
    ],
)
def test_what_does_not_fit_is_said_once_then_only_the_whole_text_helps(
    wrong: DocumentDidChange, reason: Reason
) -> None:
    documents = with_text("\U0001f642")
    assert documents.change(wrong) == DocumentDesync(URI, 1, wrong.version, reason)
    assert text_of(documents, 1) is None
    assert documents.states() == []
    assert documents.change(change(1, at(0, 0, 0, "x"))) == []

    assert documents.open(opening("whole", 7)) is None
    assert text_of(documents, 7) == "whole"
    assert documents.states() == [DocumentState(URI, 7, text_hash("whole"))]


def test_a_whole_text_of_another_hash_is_out_of_step_at_once() -> None:
    documents = Documents()
    broken = DocumentDidOpen(URI, "python", 3, "x", "b2:other")
    assert documents.open(broken) == DocumentDesync(URI, 3, 3, "hash")
    assert text_of(documents, 3) is None


def test_a_change_of_a_closed_document_asks_for_its_text() -> None:
    documents = with_text("x")
    assert URI in documents
    documents.close(URI)
    documents.close(URI)
    assert URI not in documents
    assert documents.change(change(1)) == DocumentDesync(URI, None, 2, "not_open")


def test_of_too_many_documents_the_oldest_goes() -> None:
    documents = with_text("x")
    for n in range(MOST_DOCUMENTS - 1):
        documents.open(opening("", uri=str(n)))
    assert documents.open(opening("y", 2)) is None
    assert URI in documents
    documents.open(opening("", uri="one too many"))
    assert "0" not in documents
    assert URI in documents


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(st.text("a\u00e9\u8bb7\U0001f642\n", max_size=20), st.data())
def test_places_go_and_come_in_the_encoding_of_the_session(encoding: Encoding, plain: str, data: st.DataObject) -> None:
    documents, text = Documents(encoding), Text(plain)
    point = Text(plain[: data.draw(st.integers(0, len(plain)))]).end
    assert documents.point(text, documents.position(text, point)) == point
