"""The copy of the text is the document's text after anything Qt can do to it, and the edits tell how it came about."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication, QPlainTextDocumentLayout

from offhook_app.editor.buffer import Buffer, holds, raw_text, shortest
from offhook_wire.text import Edit, Point, Text

pytestmark = pytest.mark.window

PIECES = ["a", "b", "\n", "\n\n", "é", "🙂", "讷\n🙂", "\t", "\u00a0", ""]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["replace", "undo", "redo", "set", "dirty", "block"]),
        st.integers(0, 40),
        st.integers(0, 12),
        st.sampled_from(PIECES),
    ),
    max_size=20,
)


def document(text: str) -> QTextDocument:
    made = QTextDocument()
    made.setDocumentLayout(QPlainTextDocumentLayout(made))
    made.setPlainText(text)
    return made


def select(cursor: QTextCursor, text: str, at: int, length: int) -> None:
    """By whole characters, as a person selects."""
    begin = min(at, len(text))
    end = min(begin + length, len(text))
    cursor.setPosition(len(text[:begin].encode("utf-16-le")) // 2)
    cursor.setPosition(len(text[:end].encode("utf-16-le")) // 2, QTextCursor.MoveMode.KeepAnchor)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["", "x = 1\ny🙂\n", "\n\n\n"]), STEPS)
def test_copy_and_document_stay_the_same(
    qapp: QApplication, start: str, steps: list[tuple[str, int, int, str]]
) -> None:
    doc = document(start)
    buffer = Buffer(doc)
    replayed = Text(start)
    edits: list[Edit] = []
    buffer.edited.connect(edits.append)
    for kind, at, length, piece in steps:
        cursor = QTextCursor(doc)
        if kind == "undo":
            doc.undo()
        elif kind == "redo":
            doc.redo()
        elif kind == "set":
            doc.setPlainText(piece)
        elif kind == "dirty":
            doc.markContentsDirty(0, doc.characterCount())
        else:
            if kind == "block":
                cursor.beginEditBlock()
                cursor.insertText(piece)
            select(cursor, raw_text(doc), at, length)
            cursor.insertText(piece)
            if kind == "block":
                cursor.endEditBlock()
        assert str(buffer.text) == raw_text(doc)
        for edit in edits:
            assert replayed.between(edit.start, edit.end) == edit.removed
            replayed.replace(edit.start, edit.end, edit.text)
        edits.clear()
        assert str(replayed) == raw_text(doc)


def test_a_key_is_one_edit_at_the_caret_also_among_its_like(qapp: QApplication) -> None:
    doc = document("aaaa\n")
    buffer = Buffer(doc)
    edits: list[Edit] = []
    buffer.edited.connect(edits.append)
    cursor = QTextCursor(doc)
    cursor.setPosition(1)
    cursor.insertText("a")
    assert edits == [Edit(Point(0, 1), Point(0, 1), "a", "")]


def test_points_and_positions(qapp: QApplication) -> None:
    buffer = Buffer(document("a\n🙂b"))
    assert buffer.point(4) == Point(1, 1)
    assert buffer.position(Point(1, 1)) == 4


@pytest.mark.parametrize(("text", "held"), [("a\u00a0\u2028b", True), ("a\u2029b", False), ("\ufdd0", False)])
def test_signs_that_are_qts_own_are_found_out(qapp: QApplication, text: str, held: bool) -> None:
    assert holds(document(text), text) is held


def test_shortest() -> None:
    assert shortest(Point(3, 2), "a\nxb", "a\nyb") == Edit(Point(4, 0), Point(4, 1), "y", "x")
    assert shortest(Point(0, 0), "ab", "ab") == Edit(Point(0, 2), Point(0, 2), "", "")
