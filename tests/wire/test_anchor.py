"""A suggestion keeps its place through edits, or is dropped with a reason; its ghost never repeats or eats text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_wire.anchor import Anchored, Drop
from offhook_wire.text import Point, Text

pytestmark = pytest.mark.pure


class Editor:
    """A text, a suggestion in it, and a person at the keyboard."""

    def __init__(self, text: str, at: Point, suggestion: str = "") -> None:
        self.text = Text(text)
        self.suggestion = Anchored(at, text=suggestion)

    def replace(self, start: Point, end: Point, new: str) -> Drop | None:
        return self.suggestion.through(self.text.replace(start, end, new))

    def type(self, new: str) -> Drop | None:
        return self.replace(self.suggestion.caret, self.suggestion.caret, new)

    def backspace(self) -> Drop | None:
        line, column = self.suggestion.caret
        return self.replace(Point(line, column - 1), Point(line, column), "")

    def accept(self) -> str:
        self.type(self.suggestion.ghost)
        return str(self.text)


def test_an_answer_that_contradicts_what_was_typed_meanwhile_is_dropped() -> None:  # T2a
    editor = Editor("x = ", Point(0, 4))
    assert [editor.type(key) for key in "foo"] == [None, None, None]

    assert editor.suggestion.receive("42") is Drop.TYPED_OVER
    assert str(editor.text) == "x = foo"


def test_an_answer_that_begins_with_what_was_typed_shows_the_rest() -> None:  # T2b
    editor = Editor("x = ", Point(0, 4))
    for key in "foo":
        editor.type(key)

    assert editor.suggestion.receive("fo") is None
    assert editor.suggestion.ghost == ""
    assert editor.suggestion.receive("obar()") is None
    assert editor.suggestion.ghost == "bar()"
    assert editor.accept() == "x = foobar()"


def test_lines_put_above_move_it_and_other_text_at_it_drops_it() -> None:  # T2c
    editor = Editor("let a = 0;\n", Point(1, 0), "let c = 2;")

    assert editor.replace(Point(0, 0), Point(0, 0), "// h\n") is None
    assert editor.suggestion.caret == Point(2, 0)
    assert editor.type("let b = 1;\n") is Drop.TYPED_OVER


def test_deleting_what_it_was_asked_behind_drops_it() -> None:  # T2d
    assert Editor("foo.", Point(0, 4), "bar()").backspace() is Drop.DELETED


def test_typing_the_suggestion_shortens_the_ghost_and_backspace_gives_back() -> None:  # T11a, T11b
    editor = Editor("x = ", Point(0, 4), "foobar()")
    ghosts = [editor.type(key) or editor.suggestion.ghost for key in "foo"]

    assert ghosts == ["oobar()", "obar()", "bar()"]
    assert editor.backspace() is None
    assert editor.suggestion.ghost == "obar()"


def test_a_remainder_of_one_space_is_still_a_ghost() -> None:  # T14
    editor = Editor("public void", Point(0, 7), "static ")
    editor.type("static")
    assert editor.suggestion.ghost == " "
    assert editor.accept() == "public static void"


def test_text_before_it_on_its_line_moves_it() -> None:
    editor = Editor("a; b = ", Point(0, 7), "1")
    assert editor.replace(Point(0, 0), Point(0, 1), "first") is None
    assert editor.accept() == "first; b = 1"


@pytest.mark.parametrize(
    ("start", "end", "new", "reason"),
    [
        (Point(0, 7), Point(0, 8), "", Drop.SUFFIX_CHANGED),  # right of the caret
        (Point(0, 6), Point(0, 7), "", Drop.OVERWRITTEN),  # from the caret on
        (Point(0, 0), Point(0, 8), "", Drop.OVERWRITTEN),  # all around it
        (Point(0, 5), Point(0, 6), "z", Drop.DELETED),  # something else in place of what was typed
        (Point(0, 3), Point(0, 6), "", Drop.DELETED),  # more than was typed
        (Point(0, 5), Point(0, 5), "z", Drop.OVERWRITTEN),  # inside of what was typed
        (Point(0, 4), Point(0, 4), "z", Drop.OVERWRITTEN),  # between the text before and what was typed
        (Point(0, 3), Point(0, 4), "", Drop.OVERWRITTEN),  # the character it was asked behind
        (Point(1, 0), Point(1, 1), "z", None),  # a line below
    ],
)
def test_what_touches_it_drops_it(start: Point, end: Point, new: str, reason: Drop | None) -> None:
    editor = Editor("x = )))\nbelow", Point(0, 4), "foobar")
    editor.type("fo")
    assert editor.replace(start, end, new) is reason


LETTERS = st.text("ab\n", max_size=6)


@given(st.data())
def test_whatever_is_edited_a_live_suggestion_fits_the_text(data: st.DataObject) -> None:
    before, after = data.draw(LETTERS), data.draw(LETTERS)
    wanted = data.draw(st.text("ab\n", min_size=1, max_size=8))
    editor = Editor(before, Text(before).end)
    editor.text.replace(editor.text.end, editor.text.end, after)
    suggestion, received = editor.suggestion, 0
    for _ in range(data.draw(st.integers(0, 8))):
        plain, caret, at = str(editor.text), suggestion.caret, suggestion.at
        rest = editor.text.after(caret, 0)
        action = data.draw(st.sampled_from(["receive", "type", "edit"]))
        if action == "receive":
            more = data.draw(st.integers(received, len(wanted)))
            drop, received = suggestion.receive(wanted[received:more]), more
            must_stay = wanted.startswith(suggestion.typed)
        elif action == "type":
            key = wanted[len(suggestion.typed) : len(suggestion.typed) + 1] or "a"
            must_stay = wanted.startswith(suggestion.typed + key)
            drop = editor.type(key)
        else:
            offsets = sorted(data.draw(st.integers(0, len(plain))) for _ in range(2))
            start, end = (Text(plain[:offset]).end for offset in offsets)
            drop = editor.replace(start, end, data.draw(st.text("ab\n", max_size=3)))
            must_stay = start.line > caret.line or (end < at and start < at)
        assert not (must_stay and drop)
        if drop:
            return
        assert editor.text.between(suggestion.at, suggestion.caret) == suggestion.typed
        assert editor.text.after(suggestion.caret, 0) == rest or action == "type"
        assert suggestion.ghost == suggestion.text.removeprefix(suggestion.typed) or not suggestion.ghost
        assert suggestion.typed.startswith(suggestion.text) or suggestion.text.startswith(suggestion.typed)
    plain, ghost = str(editor.text), suggestion.ghost
    offset = len(editor.text.between(Point(0, 0), suggestion.caret))
    assert editor.accept() == plain[:offset] + ghost + plain[offset:]


def test_a_suggestion_may_begin_behind_what_was_typed_since_it_was_asked_for() -> None:
    asked = Anchored(Point(1, 4), "foo\nba")
    assert asked.behind(0) == asked
    assert asked.behind(5) == Anchored(Point(2, 1), "a")
    late = asked.behind(2)
    assert late.receive("o\nbar()") is None
    assert late.ghost == "r()"
