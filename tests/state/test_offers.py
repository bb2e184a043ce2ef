"""What is offered, where a server says more than it should."""

import pytest

from support.edit_story import Story

pytestmark = pytest.mark.pure


def test_a_server_that_starts_the_same_suggestion_twice_is_heard_once() -> None:
    story = Story("x =")
    story.types(" ")
    asked = story.suggests[-1]
    story.answer("foo", asked=asked, done=False)
    story.starts(asked)
    assert story.ghost == "foo"
    assert story.stage in ("arriving", "shown")
    story.done(asked, "copy")
    story.wait(1.0)
    assert story.accept()
    assert str(story.text) == "x = foo"
