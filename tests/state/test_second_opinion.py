"""Stories of a suggestion that is not the only one: asked for by a key, turned to by a key, never swapped by itself."""

import pytest

from offhook_app.state.status import chip_words, suggestion_words
from offhook_wire.messages import Cancel, Suggest
from support.edit_story import Story

pytestmark = pytest.mark.pure


def shown(text: str = "foobar()") -> Story:
    story = Story("x =")
    story.types(" ")
    story.answer(text)
    return story


def asks_deep(story: Story) -> Suggest:
    story.do(story.editing.turn(1, story.now))
    return story.suggests[-1]


def words(story: Story) -> tuple[str, str]:
    standing = story.editing.standing(story.now)
    return chip_words(standing), suggestion_words(standing, None)


def test_the_key_for_another_asks_the_deep_model_and_keeps_what_is_shown() -> None:
    story = shown()
    asked = asks_deep(story)
    assert (asked.lane, asked.trigger_kind, asked.supersedes) == ("deep", "invoked", None)
    assert story.ghost == "foobar()"
    assert words(story)[0] == "Deep model is thinking"
    story.do(story.editing.turn(1, story.now))
    assert story.suggests[-1] is asked  # once is enough


def test_its_answer_waits_until_one_turns_to_it() -> None:
    story = shown()
    story.answer("foo(1)\nbar()", "deep", asks_deep(story))
    assert story.ghosts == ["foobar()"]
    assert words(story) == ("Deep model has another", "Suggestion: 2 to choose from")
    story.do(story.editing.turn(1, story.now))
    assert story.ghost == "foo(1)\nbar()"
    assert words(story)[0] == "2 of 2, deep model"
    story.do(story.editing.turn(1, story.now))
    assert story.ghost == "foobar()"
    story.do(story.editing.turn(-1, story.now))
    story.now += 1
    assert story.accept()
    assert str(story.text) == "x = foo(1)\nbar()"


def test_typing_through_both_keeps_both_and_through_one_drops_the_other() -> None:
    story = shown()
    story.answer("foo(1)", "deep", asks_deep(story))
    story.types("foo")
    assert words(story)[0] == "Deep model has another"
    story.types("(")
    assert story.ghost == "1)"
    assert words(story)[0] == ""


def test_an_answer_that_says_the_same_is_no_choice_and_one_that_says_more_is() -> None:
    story = shown()
    asked = asks_deep(story)
    item = story.answer("foo", "deep", asked, done=False)
    assert words(story)[0] == "Deep model is thinking"
    story.hears_more(item, "bar()\nmore()")
    assert words(story)[0] == "Deep model has another"
    story.hears_more(item, "!")
    assert story.ghosts == ["foobar()"]  # it says the same and more, and yet does not take the place by itself


def test_a_small_model_that_goes_on_does_not_take_the_deep_ones_place() -> None:
    story = Story("x =")
    story.types(" ")
    fast = story.suggests[-1]
    story.do(story.editing.more(story.now))
    story.answer("foo", "deep", story.suggests[-1])
    story.answer("foobar", "small", fast)
    assert story.ghost == "foo"
    assert words(story)[0] == "1 of 2, deep model"


def test_the_key_for_more_asks_where_nothing_is_shown() -> None:
    story = Story("x = ")
    story.wait(1)
    story.do(story.editing.more(story.now))
    asked = story.suggests[-1]
    assert asked.lane == "deep"
    story.now += 1
    assert story.stage == "thinking"
    story.now += 20
    assert story.stage == "thinking"  # the deep model takes its time
    story.now += 60
    assert story.stage == "too_slow"
    story.answer("foo()", "deep", asked)
    assert story.ghost == "foo()"


def test_the_previous_key_asks_nobody_and_no_key_asks_without_a_suggestion() -> None:
    story = shown()
    asked = len(story.suggests)
    story.do(story.editing.turn(-1, story.now))
    story.do(story.editing.dismiss())
    story.do(story.editing.turn(1, story.now))
    assert len(story.suggests) == asked


def test_a_dismissal_stops_the_deep_model_too() -> None:
    story = shown()
    asked = asks_deep(story)
    story.do(story.editing.dismiss())
    assert asked.request_id in [cancel.request_id for cancel in story.all(Cancel)]


def test_three_choices_by_number() -> None:
    story = Story("x =")
    story.types(" ")
    fast = story.suggests[-1]
    story.answer("foobar()", "copy", fast)
    story.answer("baz()", "small", fast)
    assert words(story)[0] == "1 of 2"
    story.answer("qux()", "deep", asks_deep_again(story))
    assert story.editing.standing(story.now).choices == 3


def asks_deep_again(story: Story) -> Suggest:
    story.do(story.editing.more(story.now))
    return story.suggests[-1]
