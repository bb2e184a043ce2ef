"""The deep model's questions: one a document, each ends with one reason, an edit that does not fit ends it."""

import pytest

from offhook_server.core.opinions import Begin, Opinions, Stop
from offhook_server.core.suggestions import Done, Rebased, Said, Started
from offhook_wire.text import Edit, Point

pytestmark = pytest.mark.pure

AT = Point(0, 4)
URI = "a.py"


def typed(text: str, column: int = 4) -> list[Edit]:
    at = Point(0, column)
    return [Edit(at, at, text, "")]


def asked(name: str = "q") -> Opinions:
    opinions = Opinions()
    assert opinions.ask(name, URI, AT) == [Started(name, "deep", AT), Begin(name, AT)]
    return opinions


def test_its_text_comes_as_it_is_said_and_it_ends() -> None:
    opinions = asked()
    assert opinions.said("q", "foo") == [Said("q", "deep", "foo")]
    assert opinions.ended("q", "finished") == [Done("q", "deep", "finished")]
    assert opinions.ended("q", "finished") == opinions.said("q", "x") == opinions.cancel("q") == []


def test_one_that_says_nothing_is_empty_and_one_that_fails_says_so() -> None:
    assert asked().ended("q", "finished") == [Done("q", "deep", "empty")]
    assert asked().ended("q", "failed") == [Done("q", "deep", "failed")]


def test_a_newer_question_supersedes_the_older_of_its_document_alone() -> None:
    opinions = asked()
    opinions.ask("other", "b.py", AT)
    assert opinions.ask("r", URI, AT)[:2] == [Stop("q"), Done("q", "deep", "superseded")]
    assert opinions.said("other", "x") == [Said("other", "deep", "x")]


def test_what_is_typed_meanwhile_must_be_its_beginning() -> None:
    opinions = asked()
    assert opinions.edited(URI, typed("fo")) == [Rebased("q", "deep", 2)]
    assert opinions.said("q", "foo") == [Said("q", "deep", "foo")]
    assert opinions.edited(URI, typed("x", 6)) == [Stop("q"), Done("q", "deep", "stale")]
    opinions.ask("r", URI, AT)
    opinions.edited(URI, typed("a"))
    assert opinions.said("r", "b") == [Stop("r"), Done("r", "deep", "stale")]


def test_an_edit_elsewhere_leaves_it_alone() -> None:
    opinions = asked()
    below = Point(3, 0)
    assert opinions.edited(URI, [Edit(below, below, "x", "")]) == []
    assert opinions.edited("b.py", typed("x")) == []


def test_a_cancel_a_close_and_the_sessions_end_stop_it() -> None:
    assert asked().cancel("q") == [Stop("q"), Done("q", "deep", "cancelled")]
    assert asked().closed(URI) == [Stop("q"), Done("q", "deep", "stale")]
    assert asked().close() == [Stop("q"), Done("q", "deep", "cancelled")]
