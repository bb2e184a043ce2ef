"""Stories of one document: what is asked, shown, taken and told. Letters and numbers are the faults they guard against."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.state.line_state import LineState
from offhook_wire.messages import (
    Cancel,
    DocumentDidClose,
    DocumentDidOpen,
    Pong,
    ServerStatus,
    SuggestionDone,
    TextDelta,
)
from offhook_wire.text import Point, text_hash
from support.edit_story import Story

pytestmark = pytest.mark.pure


def test_every_key_is_sent_and_asked_about() -> None:
    story = Story("x = ")
    assert [m.text for m in story.all(DocumentDidOpen)] == ["x = "]
    story.types("fo")
    assert [(c.base_version, c.version, c.content_changes[0].text) for c in story.changes] == [(1, 2, "f"), (2, 3, "o")]
    first, second = story.suggests
    assert (first.version, first.position.character, first.supersedes) == (2, 5, None)
    assert (second.version, second.position.character, second.supersedes) == (3, 6, first.request_id)


def test_positions_count_utf16_and_every_64th_version_has_a_hash() -> None:
    story = Story('s = "🙂é讷')
    story.types('"')
    assert story.suggests[-1].position.character == 10
    story.types("a" * 62)
    hashed = [c for c in story.changes if c.hash]
    assert [c.version for c in hashed] == [64]
    assert hashed[0].hash == text_hash(str(story.text))


def test_typing_through_keeps_the_ghost_without_a_request_or_an_empty_frame() -> None:  # T11a, T11b
    story = Story("x =")
    story.types(" ")
    story.answer("foobar()")
    asked = len(story.suggests)
    story.types("foo")
    story.backspace()
    assert story.ghosts == ["foobar()", "oobar()", "obar()", "bar()", "obar()"]
    assert len(story.suggests) == asked
    assert story.stage == "typed_into"


def test_a_late_answer_that_no_longer_fits_is_not_shown() -> None:  # T2a
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.types("foo")
    story.answer("42", asked=asked)
    assert story.ghosts == []
    assert str(story.text) == "x = foo"


def test_a_late_answer_that_fits_is_shown_without_what_was_typed() -> None:  # T2b
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.types("fo")
    story.answer("foo()", asked=asked)
    assert story.ghosts == ["o()"]


def test_what_was_typed_before_the_line_is_up_is_asked_about_then() -> None:
    story = Story("x =")
    story.do(story.editing.line(LineState("waiting")))
    story.do(story.editing.line(LineState("open", 1.0)))
    story.wait(1)
    assert story.suggests == []  # nobody typed
    story.do(story.editing.line(LineState("waiting")))
    story.types(" ")
    story.do(story.editing.line(LineState("open", 1.0)))
    story.wait(0)
    assert len(story.suggests) == 1
    story.do(story.editing.line(LineState("slow", 200.0)))
    story.wait(1)
    assert len(story.suggests) == 1


def test_where_the_only_answer_no_longer_fits_it_is_asked_anew() -> None:
    """One that has begun is waited for while the person types on; should it end stale, nobody else would answer."""
    for ends_at_the_server in (True, False):
        story = Story("")
        story.types(" ")
        asked = story.suggests[-1]
        item = story.starts(asked, "small")
        story.done(asked, "copy", "empty")
        story.types("   return ")
        assert story.suggests[-1] is asked
        if ends_at_the_server:
            story.hears(SuggestionDone(asked.request_id, "small", "stale", f"s.{item}"))
        else:
            story.hears(TextDelta(item, "   pass", 0))
        anew = story.suggests[-1]
        assert (anew is not asked, anew.position.character) == (True, 11)
        if not ends_at_the_server:
            story.done(asked, "small", "cancelled")
        assert story.stage == "waiting"
        story.answer("x", "small", anew)
        assert story.ghost == "x"


def test_an_answer_may_begin_behind_what_the_server_saw_typed() -> None:
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.types("foo")
    story.hears(TextDelta(story.starts(asked, consumed=2), "o()", 0))
    assert story.ghosts == ["()"]


def test_an_answer_moves_with_lines_put_in_above() -> None:  # T2c
    story = Story("x =")
    story.types(" ")
    story.answer("1", done=False)
    story.insert_above("import a\n")
    assert story.ghost == "1"
    story.accept("line")
    assert str(story.text) == "import a\nx = 1"


def test_a_stream_that_turns_away_from_the_typed_text_goes_and_is_cancelled() -> None:
    story = Story("x =")
    story.types(" ")
    item = story.answer("f", "small", done=False)
    story.types("fo")
    story.hears(TextDelta(item, "a", 1))
    assert story.ghost == ""
    assert Cancel(story.suggests[0].request_id) in story.sent
    assert [f.outcome for f in story.feedback] == ["ignored"]
    story.hears(TextDelta(item, "b", 2))
    story.hears(TextDelta("unknown", "b", 2))
    assert story.ghost == ""


def test_an_edit_elsewhere_that_takes_the_caret_along_ends_it() -> None:
    story = Story("x =\ny", Point(0, 3))
    story.types(" ")
    story.answer("foo()")
    assert story.stage == "shown"
    story.edit(Point(1, 1), Point(1, 1), "z")
    assert story.ghost == ""


def test_accept_inserts_and_asks_for_the_next() -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("foo()")
    story.now += 1
    assert story.accept()
    assert str(story.text) == "x = foo()"
    assert [(f.outcome, f.accepted_length, f.was_shown) for f in story.feedback] == [("accepted", 5, True)]
    assert story.suggests[-1].position.character == 9


def test_accept_by_word_and_line_takes_no_new_request_and_tells_once() -> None:  # T16
    story = Story("x =")
    story.types(" ")
    story.answer("foo(a, b)\n    return c")
    asked = len(story.suggests)
    taken = []
    for _ in range(5):
        before = str(story.text)
        assert story.accept("word")
        taken.append(str(story.text)[len(before) :])
    assert taken == ["foo", "(a", ", b", ")", "\n    return"]
    assert len(story.suggests) == asked
    assert story.ghost == " c"
    assert story.accept("line")
    assert [(f.outcome, f.accepted_length) for f in story.feedback] == [("accepted", 22)]


def test_a_part_taken_and_the_rest_typed_over_is_told_as_partial() -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("foo(a)")
    story.accept("word")
    story.types("!")
    assert [(f.outcome, f.accepted_length) for f in story.feedback] == [("partial", 3)]


@pytest.mark.parametrize("seen_ms", [0, 10, 140, 149])
def test_tab_is_an_indent_until_the_ghost_has_been_seen(seen_ms: int) -> None:  # T4b
    story = Story("x =")
    story.types(" ")
    story.answer("1")
    story.now += seen_ms / 1000
    assert not story.accept()
    story.now += 0.15
    assert story.accept()


def test_tab_is_an_indent_until_the_ghost_was_painted_and_left_of_ink() -> None:  # T4b, T4c
    story = Story("x =")
    story.paint = False
    story.types(" ")
    story.answer("1")
    story.now += 9
    assert not story.accept()
    story = Story("  ->bunch();", Point(0, 1))
    story.types(" ")
    story.answer("a")
    story.now += 9
    assert not story.accept()
    assert not Story("x").accept()


def test_dismissing_tells_stops_the_stream_and_waits_for_a_key() -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("foo", "small", done=False)
    assert story.do(story.editing.dismiss())
    assert story.ghosts[-1] == ""
    assert story.stage == "dismissed"
    assert [f.outcome for f in story.feedback] == ["rejected"]
    assert Cancel(story.suggests[0].request_id) in story.sent
    assert not story.do(story.editing.dismiss())
    story.wait(5)
    assert len(story.suggests) == 1
    story.types("f")
    assert len(story.suggests) == 2


def test_a_copy_stays_until_the_model_says_the_same_and_more() -> None:
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.answer("foo(", "copy", asked)
    item = story.answer("fab", "small", asked, done=False)
    assert story.ghost == "foo("
    story.done(asked, "small")
    assert story.ghost == "foo("
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.answer("foo(", "copy", asked)
    item = story.answer("foo", "small", asked, done=False)
    story.hears(TextDelta(item, "(a)", 1))
    assert story.ghosts == ["foo(", "foo(a)"]
    assert [f.outcome for f in story.feedback] == ["replaced"]


def test_what_was_deleted_is_not_offered_back_unless_asked_for() -> None:  # T10
    story = Story("a()\nlog(x)\nb()\n")
    story.edit(Point(1, 0), Point(2, 0), "")
    asked = story.suggests[-1]
    item = story.answer("lo", "copy", done=False)
    story.hears(TextDelta(item, "g(x)", 1))
    story.done(asked, "copy")
    story.done(asked, "small", "empty")
    assert story.ghosts == []
    assert story.stage == "reversal"
    story.do(story.editing.invoke(story.now))
    assert story.suggests[-1].trigger_kind == "invoked"
    story.answer("log(x)")
    assert story.ghost == "log(x)"
    story = Story("a()\nlog(x)\nb()\n")
    story.edit(Point(1, 0), Point(2, 0), "")
    story.now += 61
    story.answer("log(x)")
    assert story.ghost == "log(x)"


def test_a_key_asks_again_while_something_is_held_back() -> None:
    story = Story("a()\nlog(x)\nb()\n")
    story.edit(Point(1, 0), Point(2, 0), "")
    story.answer("log(x)", done=False)
    story.types("l")
    assert len(story.suggests) == 2


@pytest.mark.parametrize("origin", ["undo", "redo"])
def test_undo_asks_for_nothing_and_clears(origin: str) -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("1")
    story.edit(Point(0, 3), story.at, "", "undo" if origin == "undo" else "redo")
    assert story.ghosts == ["1", ""]
    assert len(story.suggests) == 1
    assert story.stage == "after_undo"


def test_pasting_lines_asks_for_nothing_pasting_a_word_does() -> None:
    story = Story("x = ")
    story.edit(story.at, story.at, "a\nb", "paste")
    assert not story.suggests
    assert story.stage == "after_paste"
    story.edit(story.at, story.at, "c", "paste")
    assert len(story.suggests) == 1
    story.edit(story.at, story.at, "d", "program")
    assert len(story.suggests) == 1


def test_the_caret_elsewhere_ends_it_and_resting_asks() -> None:
    story = Story("x =\ny")
    story.move(Point(0, 3))
    story.types(" ")
    story.answer("foo", "small", done=False)
    story.move(Point(1, 1))
    assert story.ghost == ""
    assert Cancel(story.suggests[-1].request_id) in story.sent
    story.move(Point(1, 1))
    story.wait(0.2)
    assert len(story.suggests) == 1
    assert story.do(story.editing.tick(story.now)) is False
    story.wait(0.2)
    assert len(story.suggests) == 2
    assert story.editing.deadline is None


@pytest.mark.parametrize(
    "reason",
    ["never_sent", "read_only", "selection", "composing"],
)
def test_every_silence_has_its_reason(reason: str) -> None:
    story = Story("x = ", never_sent=reason == "never_sent", read_only=reason == "read_only")
    if reason == "selection":
        story.move(Point(0, 0), selection=True)
        story.move(Point(0, 1), selection=True)
    if reason == "composing":
        story.do(story.editing.composing(True))
    story.do(story.editing.invoke(story.now))
    assert story.suggests == []
    assert story.stage == reason


def test_a_secret_file_never_leaves() -> None:  # T19
    story = Story("API_KEY=abc", never_sent=True)
    story.types("d")
    story.do(story.editing.close())
    assert story.sent == []


def test_a_large_file_is_not_sent() -> None:
    story = Story("x" * (1024 * 1024 + 1))
    story.types("d")
    assert story.sent == []
    assert story.stage == "too_large"


@pytest.mark.parametrize("leave", ["selection", "composing", "no_focus"])
def test_selecting_composing_and_leaving_clear_the_ghost(leave: str) -> None:  # T12, T21
    story = Story("x =")
    story.types(" ")
    story.answer("1")
    if leave == "selection":
        story.move(story.at, selection=True)
    elif leave == "composing":
        story.do(story.editing.composing(True))
    else:
        story.do(story.editing.focus(False))
    assert story.ghosts == ["1", ""]
    assert not story.accept()
    assert story.stage == leave
    story.do(story.editing.focus(True))
    story.wait(9)
    assert len(story.suggests) == 1


def test_typing_over_a_selection_asks() -> None:
    story = Story("x = yy")
    story.move(Point(0, 4), selection=True)
    story.edit(Point(0, 4), Point(0, 6), "z")
    assert len(story.suggests) == 1


def test_a_committed_composition_asks_once() -> None:  # T21
    story = Story("x = ")
    story.do(story.editing.composing(True))
    story.do(story.editing.composing(False))
    story.edit(story.at, story.at, "你好")
    assert len(story.suggests) == 1


def test_a_cut_line_freezes_what_came_and_takes_up_the_rest() -> None:  # T18a
    story = Story("x =")
    story.types(" ")
    item = story.answer("foo", "small", done=False)
    story.do(story.editing.line(LineState("waiting", attempt=1)))
    assert story.stage == "cut"
    story.types("f")
    assert len(story.suggests) == 1
    assert story.ghost == "oo"
    story.do(story.editing.line(LineState("open")))
    story.hears(TextDelta(item, "()", 1))
    assert story.ghost == "oo()"
    assert story.stage == "arriving"
    story.do(story.editing.line(LineState("closed")))
    assert story.accept("line")
    assert str(story.text) == "x = foo()"
    assert story.stage == "off_the_line"


def test_a_cut_line_leaves_what_had_come_whole() -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("foo")
    story.do(story.editing.line(LineState("waiting")))
    assert story.stage == "shown"


def test_a_cut_line_ends_what_had_not_begun() -> None:
    story = Story("x =")
    story.types(" ")
    story.starts(story.suggests[-1])
    story.do(story.editing.line(LineState("waiting")))
    assert [f.outcome for f in story.feedback] == []
    story.do(story.editing.line(LineState("open")))
    story.types("y")
    assert [f.outcome for f in story.feedback] == ["ignored"]


def test_words_follow_a_request_from_waiting_to_its_end() -> None:
    story = Story("x =")
    assert story.stage == "idle"
    story.types(" ")
    asked = story.suggests[-1]
    assert story.stage == "waiting"
    story.now += 0.5
    assert story.stage == "thinking"
    story.done(asked, "copy", "empty")
    assert story.stage == "thinking"
    story.done(asked, "small", "no_model")
    assert story.stage == "no_model"
    story.types("y")
    assert story.stage == "waiting"


def test_an_answer_that_does_not_come_is_said_to_be_late_and_shown_all_the_same() -> None:  # T29
    story = Story("x =")
    story.types(" ")
    story.now += 11
    assert story.stage == "too_slow"
    story.answer("1")
    assert story.stage == "shown"


def test_a_model_that_arrives_is_asked_at_once() -> None:
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.done(asked, "small", "no_model")
    story.done(asked, "copy", "unsure")
    assert story.stage == "no_model"
    story.hears(ServerStatus("ready", "m"))
    assert len(story.suggests) == 2
    assert story.stage == "waiting"


def test_a_request_answered_with_nothing_says_so() -> None:
    story = Story("x =")
    story.types(" y")
    old, asked = story.suggests
    story.done(old, "copy", "superseded")
    story.done(old, "small", "superseded")
    assert story.stage == "waiting"
    story.done(asked, "copy", "empty")
    story.done(asked, "small", "unsure")
    assert story.stage == "nothing_likely"
    story.done(asked, "small", "unsure")


def test_white_space_is_named_and_asking_again_does_nothing_while_one_is_shown() -> None:  # T14
    story = Story("public ")
    story.types("s")
    story.answer("  ")
    assert story.stage == "white"
    asked = len(story.suggests)
    assert not story.do(story.editing.invoke(story.now))
    assert len(story.suggests) == asked


def test_a_copy_typed_to_its_end_is_over_and_the_next_key_asks() -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("ab")
    story.types("ab")
    assert story.ghosts == ["ab", "b", ""]
    assert [f.outcome for f in story.feedback] == ["ignored"]
    assert len(story.suggests) == 2


def test_typing_past_a_stream_waits_for_it() -> None:
    story = Story("x =")
    story.types(" ")
    item = story.answer("a", "small", done=False)
    story.types("ab")
    assert story.ghost == ""
    story.hears(TextDelta(item, "bc", 1))
    assert story.ghost == "c"
    assert len(story.suggests) == 1


def test_starting_for_a_request_given_up_is_not_taken_up() -> None:
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.do(story.editing.focus(False))
    story.answer("1", asked=asked)
    assert story.ghosts == []


def test_closing_says_so_and_what_was_shown_is_told() -> None:
    story = Story("x =")
    story.types(" ")
    story.answer("1")
    story.do(story.editing.close())
    assert isinstance(story.sent[-1], DocumentDidClose)
    assert [f.outcome for f in story.feedback] == ["ignored"]


def test_only_the_newest_requests_are_waited_for() -> None:
    story = Story("x =")
    story.types("abcdefghijkl")
    assert story.starts(story.suggests[0]) not in {o.item_id for o in story.editing._offers}


def test_events_of_others_change_nothing() -> None:
    story = Story("x =")
    story.hears(Pong(1, 0, 0, 0))
    story.hears(ServerStatus("ready", "m"))
    assert story.ghosts == []


KEYS = st.sampled_from(["f", "o", "(", "\b", "above", "undo", "answer", "late", "delta", "done", "esc", "left", "cut"])


@given(st.lists(KEYS, max_size=40))
def test_without_an_accept_the_text_is_as_if_there_were_no_suggestions(keys: list[str]) -> None:  # report 2
    """`Story.text` is changed by keys alone: what matters is that no action ever inserts, and ghosts always fit."""
    story = Story("x = ")
    plain = "x = "
    items: list[str] = []
    for key in keys:
        if key in "fo(":
            story.types(key)
            lines = plain.split("\n")
            lines[-1] = lines[-1][: story.at.column - 1] + key + lines[-1][story.at.column - 1 :]
            plain = "\n".join(lines)
        elif key == "\b" and story.at.column:
            story.backspace()
            lines = plain.split("\n")
            lines[-1] = lines[-1][: story.at.column] + lines[-1][story.at.column + 1 :]
            plain = "\n".join(lines)
        elif key == "above":
            story.insert_above("i\n")
            plain = "i\n" + plain
        elif key == "left" and story.at.column:
            story.move(Point(story.at.line, story.at.column - 1))
        elif key == "esc":
            story.do(story.editing.dismiss())
        elif key == "cut":
            story.do(story.editing.line(LineState("waiting")))
            story.do(story.editing.line(LineState("open")))
        elif story.suggests and key in ("answer", "late"):
            asked = story.suggests[0 if key == "late" else -1]
            if f"{asked.request_id}.small" not in items:
                items.append(story.answer("foo(", "small", asked, done=False))
        elif items and key == "delta":
            story.hears(TextDelta(items[-1], "oo", 1))
        elif story.suggests and key == "done":
            story.done(story.suggests[-1], "small")
        assert str(story.text) == plain
        shown = story.editing._on_screen
        assert shown is None or shown.at == story.at
