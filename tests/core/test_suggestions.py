"""Which suggestion requests live: each ends with one reason per source, and the newest alone may decode."""

from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from offhook_server.core.suggestions import (
    Action,
    Ask,
    AskCopy,
    Done,
    Rebased,
    Said,
    Started,
    StartSmall,
    StopSmall,
    Suggestions,
)
from offhook_wire.messages import Outcome
from offhook_wire.text import Edit, Point, Text

pytestmark = pytest.mark.pure

URI = "a.py"
AT = Point(0, 4)


class Desk:
    """`x = ` with the caret behind it, keys 0.2 s apart, and the machine that hears of both."""

    def __init__(self, text: str = "x = ") -> None:
        self.machine = Suggestions()
        self.text = Text(text)
        self.now = 100.0

    def ask(self, name: str, *, wait: bool = True, model: bool = True, deadline_s: float | None = None) -> list[Action]:
        return self.machine.suggest(Ask(name, URI, self.text.end, wait, model, deadline_s), self.now)

    def type(self, new: str) -> list[Action]:
        return self._edit(self.text.replace(self.text.end, self.text.end, new))

    def backspace(self) -> list[Action]:
        line, column = self.text.end
        return self._edit(self.text.replace(Point(line, column - 1), self.text.end, ""))

    def due(self) -> list[Action]:
        """Waits until the machine wants to be called."""
        assert self.machine.deadline is not None
        self.now = max(self.now, self.machine.deadline)
        return self.machine.tick(self.now)

    def running(self, name: str = "q") -> "Desk":
        """The small model is at work on `name`."""
        self.ask(name)
        self.machine.copied(name, None, sure=False)
        assert StartSmall(name, URI, self.text.end) in self.due()
        return self

    def _edit(self, edit: Edit) -> list[Action]:
        self.now += 0.2
        return self.machine.edited(URI, [edit], self.now)


def test_the_copy_model_answers_first_then_the_small_one() -> None:
    desk = Desk()
    assert desk.ask("q") == [AskCopy("q", AT)]
    assert desk.machine.deadline is None
    assert desk.machine.copied("q", "foo", sure=False) == [Done("q", "copy", "unsure")]
    assert desk.due() == [Started("q", "small", AT), StartSmall("q", URI, AT)]
    assert desk.machine.said("q", "foo") == [Said("q", "small", "foo")]
    assert desk.machine.is_live("q")
    assert desk.machine.small_done("q", "finished") == [Done("q", "small", "finished")]
    assert not desk.machine.is_live("q")


def test_enter_goes_into_the_block_that_is_being_suggested_behind_a_colon() -> None:
    desk = Desk("if x:").running()
    assert desk.type("\n    ") == [Rebased("q", "small", 5)]
    assert desk.machine.said("q", "\n    y()") == [Said("q", "small", "\n    y()")]
    assert desk.machine.is_live("q")


def test_a_sure_copy_spares_the_small_model() -> None:
    desk = Desk()
    desk.ask("q")
    assert desk.machine.copied("q", "foo()", sure=True) == [
        Started("q", "copy", AT),
        Said("q", "copy", "foo()"),
        Done("q", "copy", "finished"),
        Done("q", "small", "unneeded"),
    ]
    assert desk.machine.deadline is None


@pytest.mark.parametrize(
    ("text", "sure", "outcome"),
    [(None, False, "empty"), ("", True, "empty"), ("f", False, "unsure"), ("f", True, "finished")],
)
def test_without_a_small_model_the_copy_model_answers_alone(text: str | None, sure: bool, outcome: Outcome) -> None:
    desk = Desk()
    assert desk.ask("q", model=False) == [AskCopy("q", AT), Done("q", "small", "no_model")]
    assert desk.machine.copied("q", text, sure=sure)[-1] == Done("q", "copy", outcome)
    assert not desk.machine.is_live("q")


def test_what_was_typed_meanwhile_is_taken_off_the_copy_or_contradicts_it() -> None:
    for typed, rest in [("fo", "o()"), ("foo()", None), ("ba", None)]:
        desk = Desk()
        desk.ask("q")
        desk.type(typed)
        actions = desk.machine.copied("q", "foo()", sure=True)
        if rest:
            assert actions[:2] == [Started("q", "copy", desk.text.end, len(typed)), Said("q", "copy", rest)]
        else:
            assert actions == [Done("q", "copy", "stale")]
            assert desk.machine.is_live("q")


def test_the_pause_begins_anew_with_each_key_that_fits() -> None:
    desk = Desk()
    desk.type("")
    desk.type("")
    asked_at = desk.now
    desk.ask("q")
    desk.machine.copied("q", None, sure=False)
    first_due = desk.machine.deadline
    assert first_due is not None
    assert first_due > asked_at
    desk.type("f")
    assert (desk.machine.deadline or 0) > first_due
    assert desk.due()[-1] == StartSmall("q", URI, Point(0, 5))


def test_who_asks_by_hand_waits_for_nothing() -> None:
    desk = Desk()
    desk.type("")
    desk.type("")
    desk.ask("q", wait=False)
    desk.machine.copied("q", None, sure=False)
    assert desk.machine.deadline == desk.now


def test_a_newer_request_ends_the_older_one_of_its_document_only() -> None:
    desk = Desk().running("q_1")
    assert desk.machine.suggest(Ask("other", "b.py", AT), desk.now) == [AskCopy("other", AT)]
    assert desk.ask("q_2") == [StopSmall("q_1"), Done("q_1", "small", "superseded"), AskCopy("q_2", AT)]
    assert desk.ask("q_3") == [
        Done("q_2", "copy", "superseded"),
        Done("q_2", "small", "superseded"),
        AskCopy("q_3", AT),
    ]
    assert desk.machine.is_live("other")


def test_an_answer_that_contradicts_what_was_typed_stops_the_engine() -> None:  # T2a
    desk = Desk().running()
    for key in "foo":
        desk.type(key)
    assert desk.machine.said("q", "42") == [StopSmall("q"), Done("q", "small", "stale")]
    assert desk.machine.said("q", "!") == []
    assert str(desk.text) == "x = foo"


def test_an_answer_that_agrees_goes_on_without_another_request() -> None:  # T2b
    desk = Desk().running()
    assert [desk.type(key) for key in "foo"] == [[Rebased("q", "small", n)] for n in (1, 2, 3)]
    assert desk.machine.said("q", "foobar()") == [Said("q", "small", "foobar()")]
    assert desk.backspace() == [Rebased("q", "small", 2)]
    assert desk.type("x") == [StopSmall("q"), Done("q", "small", "stale")]


def test_lines_put_above_move_it_unseen() -> None:  # T2c
    desk = Desk().running()
    edit = desk.text.replace(Point(0, 0), Point(0, 0), "# h\n")
    assert desk.machine.edited(URI, [edit], desk.now) == []
    assert desk.type("4") == [Rebased("q", "small", 1)]
    assert desk.machine.said("q", "42") == [Said("q", "small", "42")]


def test_deleting_what_it_was_asked_behind_ends_it() -> None:  # T2d
    desk = Desk("foo.")
    desk.ask("q")
    assert desk.backspace() == [Done("q", "copy", "stale"), Done("q", "small", "stale")]
    assert desk.machine.copied("q", "bar()", sure=True) == []


def test_no_first_token_in_time_is_given_up_and_a_token_in_time_is_not() -> None:
    desk = Desk()
    desk.ask("q", deadline_s=0.25)
    assert desk.machine.tick(desk.now + 0.2) == []
    assert desk.due() == [Done("q", "copy", "deadline"), Done("q", "small", "deadline")]

    desk.ask("q_2", deadline_s=0.25)
    desk.machine.copied("q_2", None, sure=False)
    desk.due()
    desk.machine.said("q_2", "foo")
    assert desk.machine.deadline is None


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (lambda machine: machine.cancel("q"), "cancelled"),
        (lambda machine: machine.closed(URI), "stale"),
        (lambda machine: machine.close(), "cancelled"),
    ],
)
def test_a_cancel_a_close_and_the_end_stop_the_engine(
    end: Callable[[Suggestions], list[Action]], outcome: Outcome
) -> None:
    desk = Desk().running()
    assert end(desk.machine) == [StopSmall("q"), Done("q", "small", outcome)]
    assert [*desk.machine.cancel("q"), *desk.machine.closed(URI), *desk.machine.close()] == []


def test_a_small_model_that_says_nothing_was_empty_and_one_that_fails_failed() -> None:
    assert Desk().running().machine.small_done("q", "finished") == [Done("q", "small", "empty")]
    assert Desk().running().machine.small_done("q", "failed") == [Done("q", "small", "failed")]


def test_words_of_a_request_that_never_started_are_not_heard() -> None:
    desk = Desk()
    desk.ask("q")
    assert [*desk.machine.said("q", "foo"), *desk.machine.small_done("q", "finished")] == []
    desk.machine.copied("q", None, sure=False)
    assert desk.machine.copied("q", "again", sure=True) == []
    assert desk.type("y") == []
    assert Desk().type("y") == []


# -- any order of things ----------------------------------------------------------------------------------------------


class AnyOrder(RuleBasedStateMachine):
    """Two documents, a person, two models, and late words of requests long over."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = Suggestions()
        self.texts = {"a": Text("x"), "b": Text("y\nz")}
        self.now = 0.0
        self.document: dict[str, str] = {}  # of each request
        self.open: dict[str, set[str]] = {}  # sources of each request that have not ended
        self.started: set[tuple[str, str]] = set()
        self.running: dict[str, str] = {}  # the document's request the engine is at work for

    def check(self, actions: list[Action]) -> None:
        for action in actions:
            name = action.request_id
            uri = self.document[name]
            match action:
                case AskCopy():
                    assert "copy" in self.open[name]
                case Started(source=source):
                    assert source in self.open[name]
                    assert (name, source) not in self.started
                    self.started.add((name, source))
                case StartSmall(at=at):
                    assert (name, "small") in self.started
                    assert uri not in self.running
                    assert at == self.texts[uri].end
                    self.running[uri] = name
                case StopSmall():
                    assert self.running.pop(uri) == name
                case Said(source=source) | Rebased(source=source):
                    assert source in self.open[name]
                    assert (name, source) in self.started
                case Done(source=source):
                    assert source in self.open[name]
                    self.open[name].remove(source)

    def newest(self, ago: int) -> str:
        return list(self.document)[-1 - ago % len(self.document)]

    @rule(
        uri=st.sampled_from("ab"),
        wait=st.booleans(),
        model=st.integers(0, 4).map(bool),
        deadline_s=st.sampled_from([None, None, 0.3]),
    )
    def asks(self, uri: str, wait: bool, model: bool, deadline_s: float | None) -> None:
        name = f"q_{len(self.document)}"
        self.document[name] = uri
        self.open[name] = {"copy", "small"}
        self.check(self.machine.suggest(Ask(name, uri, self.texts[uri].end, wait, model, deadline_s), self.now))

    @rule(uri=st.sampled_from("ab"), key=st.sampled_from("fffog\n"))
    def types(self, uri: str, key: str) -> None:
        text = self.texts[uri]
        self.check(self.machine.edited(uri, [text.replace(text.end, text.end, key)], self.now))

    @rule(uri=st.sampled_from("ab"))
    def takes_back(self, uri: str) -> None:
        text = self.texts[uri]
        plain = str(text)
        if plain:
            edit = text.replace(Text(plain[:-1]).end, text.end, "")
            self.check(self.machine.edited(uri, [edit], self.now))

    @rule(uri=st.sampled_from("ab"))
    def writes_above(self, uri: str) -> None:
        text = self.texts[uri]
        self.check(self.machine.edited(uri, [text.replace(Point(0, 0), Point(0, 0), "#\n")], self.now))

    @rule(seconds=st.sampled_from([0.01, 0.1, 1.5]))
    def waits(self, seconds: float) -> None:
        self.now += seconds
        self.check(self.machine.tick(self.now))

    @rule(ago=st.integers(0, 3), text=st.sampled_from([None, "", "f", "ff", "fo"]), sure=st.booleans())
    @precondition(lambda self: self.document)
    def copy_answers(self, ago: int, text: str | None, sure: bool) -> None:
        self.check(self.machine.copied(self.newest(ago), text, sure=sure))

    @rule(ago=st.integers(0, 3), text=st.sampled_from(["f", "ff", "fo"]))
    @precondition(lambda self: self.document)
    def small_says(self, ago: int, text: str) -> None:
        self.check(self.machine.said(self.newest(ago), text))

    @rule(uri=st.sampled_from("ab"), failed=st.booleans())
    @precondition(lambda self: self.running)
    def small_ends(self, uri: str, failed: bool) -> None:
        name = self.running.pop(uri, None)
        if name:
            self.check(self.machine.small_done(name, "failed" if failed else "finished"))

    @rule(ago=st.integers(0, 3))
    @precondition(lambda self: self.document)
    def cancels(self, ago: int) -> None:
        self.check(self.machine.cancel(self.newest(ago)))

    @rule(uri=st.sampled_from("ab"))
    def closes(self, uri: str) -> None:
        self.check(self.machine.closed(uri))

    @invariant()
    def one_request_of_a_document_lives_and_it_is_open(self) -> None:
        live = [name for name in self.document if self.machine.is_live(name)]
        assert len({self.document[name] for name in live}) == len(live)
        assert {name for name, sources in self.open.items() if sources} == set(live)
        assert set(self.running.values()) <= set(live)

    def teardown(self) -> None:
        self.check(self.machine.close())
        assert not self.running
        assert not any(self.open.values())
        assert self.machine.deadline is None


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=40)
