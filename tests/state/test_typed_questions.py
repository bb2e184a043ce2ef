"""Typed questions as stories: asked, answered, stopped, cut off, forgotten by the server, kept through a kill."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from offhook_app.state.conversation import LANE, MOST_CHARACTERS, Conversation
from offhook_app.state.exchange import Exchange, state_words
from offhook_wire.messages import ModelStatus, Pong, Position, ServerStatus, SuggestionStarted, TextDelta
from offhook_wire.responses import ResponseCreate
from support.answers import completed, created, delta
from support.conversation_story import CONTEXT, Story

pytestmark = pytest.mark.pure


def test_a_question_is_kept_sent_answered() -> None:
    story = Story()
    asked = story.ask("Why?", CONTEXT)
    assert (asked.stage, story.kept(1)) == ("sent", asked)
    assert (story.asked.stream_id, story.asked.previous_response_id, story.asked.store) == (LANE, None, False)
    assert story.input == [("user", CONTEXT.before("Why?"))]
    response = story.starts()
    story.writes("Be", "cause.")
    assert (story.last.stage, story.last.answer) == ("writing", "Because.")
    story.ends(response)
    assert (story.kept(1).stage, story.kept(1).answer) == ("done", "Because.")
    assert story.conversation.running is None


def test_the_next_question_builds_on_the_last_without_saying_it_again() -> None:
    story = Story()
    story.ask("One?", CONTEXT)
    response = story.answers("1")
    story.ask("Two?", CONTEXT)
    assert story.asked.previous_response_id == response
    assert story.input == [("user", "Two?")]  # those lines are known
    assert story.conversation.reads_from == 1


def test_a_server_that_forgot_is_told_all_again() -> None:
    story = Story()
    story.ask("One?", CONTEXT)
    story.answers("1")
    story.ask("Two?")
    story.refuses("Previous response not found.", "previous_response_not_found")
    assert story.asked.previous_response_id is None
    assert story.input == [("user", CONTEXT.before("One?")), ("assistant", "1"), ("user", "Two?")]
    story.answers("2")
    assert story.last.answer == "2"


def test_a_refusal_says_how_to_mend_it() -> None:
    story = Story()
    story.ask("One?")
    story.refuses("Not of this lane.", lane=None)
    assert story.last.stage == "sent"
    story.refuses("There is no deep model. Fetch it with `offhook models fetch deep`.")
    assert (story.last.stage, story.last.note[:24]) == ("failed", "There is no deep model. ")
    story.refuses("Nobody asked.")
    assert state_words(story.last, None) == "failed"


def test_a_refusal_of_one_that_was_stopped_is_nobodys() -> None:
    story = Story()
    story.ask("One?")
    story.answers("1")
    story.ask("Two?")
    story.stop()
    story.refuses("Previous response not found.", "previous_response_not_found")
    assert story.last.stage == "stopped"


def test_the_server_fails_in_the_middle() -> None:
    story = Story()
    story.ask("One?")
    response = story.starts()
    story.writes("Well")
    story.ends(response, "failed", "The model stopped. Ask again.")
    assert (story.last.stage, story.last.answer, story.last.note) == ("failed", "Well", "The model stopped. Ask again.")
    story.again()
    assert [e.superseded for e in story.conversation.exchanges] == [True, False]
    assert story.input == [("user", "One?")]
    story.again()
    assert len(story.conversation.exchanges) == 2
    story.ends(story.starts(), "failed")
    assert story.last.note.startswith("The server stopped this answer")


def test_nothing_to_ask_again() -> None:
    story = Story()
    story.again()
    story.stop()
    assert story.sent == []


@pytest.mark.parametrize(("status", "stage"), [("completed", "failed"), ("incomplete", "failed"), ("cancelled", "cut")])
def test_an_end_without_a_word(status: str, stage: str) -> None:
    story = Story()
    story.ask("One?")
    story.ends(story.starts(), status)
    assert story.last.stage == stage
    assert story.last.note


def test_an_answer_that_reached_its_limit_can_go_on() -> None:
    story = Story()
    story.ask("One?")
    response = story.starts()
    story.writes("Long")
    story.ends(response, "incomplete")
    assert story.last.stage == "long"
    story.ask("Go on.")
    assert story.asked.previous_response_id == response


def test_stop_is_at_once_and_what_comes_later_is_not_shown() -> None:
    story = Story()
    story.ask("One?")
    story.stop()
    assert story.cancels[-1].response_id is None
    assert story.last.stage == "stopped"
    response = story.starts()
    story.writes("late")
    story.ends(response, "cancelled")
    assert (story.last.stage, story.last.answer) == ("stopped", "")


def test_a_new_question_takes_the_place_of_the_one_that_runs() -> None:
    story = Story()
    story.ask("One?")
    first = story.starts()
    story.writes("Half")
    story.ask("Two?")
    assert story.cancels[-1].response_id == first
    assert story.input == [("user", "One?"), ("assistant", "Half"), ("user", "Two?")]
    assert story.asked.previous_response_id is None  # the server may have written more than was seen
    story.writes(" more")
    story.ends(first, "cancelled")
    story.answers("2")
    assert [(e.stage, e.answer) for e in story.conversation.exchanges] == [("stopped", "Half"), ("done", "2")]


def test_a_line_lost_before_a_word_is_made_good_once() -> None:
    story = Story()
    story.ask("One?")
    story.starts()
    story.line("waiting")
    assert state_words(story.last, None) == "waiting for the line"
    story.line("open")
    assert len(story.sent) == 2
    story.line("waiting")
    assert (story.last.stage, bool(story.last.note)) == ("cut", True)
    story.line("slow")
    assert len(story.sent) == 2
    story.again()
    story.answers("1")
    assert story.last.answer == "1"


def test_a_line_lost_in_the_middle_keeps_what_had_come() -> None:
    story = Story()
    story.ask("One?")
    story.starts()
    story.writes("Half")
    story.line("waiting")
    assert (story.last.stage, story.last.answer, story.kept(1)) == ("cut", "Half", story.last)
    story.line("open")
    story.ask("Two?")
    assert story.input == [("user", "One?"), ("assistant", "Half"), ("user", "Two?")]


def test_asked_off_the_line_it_waits() -> None:
    story = Story(up=False)
    story.line("connecting")
    story.ask("One?")
    assert (story.last.stage, story.sent) == ("queued", [])
    story.line("http")
    assert story.input == [("user", "One?")]


def test_by_http_it_is_answered_while_the_line_comes_back() -> None:
    story = Story(up=False)
    story.line("http")
    story.ask("One?")
    response = story.starts()
    story.writes("Be")
    story.line("open")
    story.writes("cause.")
    story.ends(response)
    assert (story.last.stage, story.last.answer) == ("done", "Because.")


def test_stopped_while_it_waits_it_is_never_sent() -> None:
    story = Story(up=False)
    story.ask("One?")
    story.stop()
    story.line("open")
    assert (story.last.stage, story.sent) == ("stopped", [])


def test_the_line_may_be_lost_while_nothing_runs() -> None:
    story = Story()
    story.ask("One?")
    story.answers("1")
    story.line("waiting")
    story.line("open")
    story.ask("Two?")
    assert story.asked.previous_response_id is None
    assert len(story.input) == 3


def test_an_answer_is_saved_as_it_grows_once_a_second() -> None:
    story = Story()
    story.ask("One?")
    story.starts()
    before = story.keeps
    for _ in range(30):
        story.writes("word ")
        story.wait(0.1)
    assert 2 <= story.keeps - before <= 4
    assert len(story.last.answer) - len(story.kept(1).answer) <= 50
    story.wait(2.5)
    assert story.kept(1).answer == story.last.answer
    assert story.conversation.deadline is None
    assert story.conversation.tick(story.now) == []
    story.writes("last ")
    assert story.kept(1).answer == story.last.answer  # nothing was saved for a second
    story.writes("very last")
    assert story.conversation.tick(story.now) == []  # not yet


def test_after_a_kill_it_is_found_as_it_was_and_plainly_cut() -> None:
    story = Story()
    story.ask("One?")
    story.answers("1")
    story.ask("Two?")
    story.starts()
    story.wait(2.0)
    story.writes("Half")
    again = Story([story.kept(n) for n in sorted(story.disk)])
    assert [(e.stage, e.answer) for e in again.conversation.exchanges] == [("done", "1"), ("cut", "Half")]
    assert again.last.note
    again.again()
    assert again.last.id == 3
    assert again.input == [("user", "One?"), ("assistant", "1"), ("user", "Two?")]


def test_clear_forgets_and_what_runs_is_stopped() -> None:
    story = Story()
    story.ask("One?")
    response = story.starts()
    story.writes("Half")
    story.clear()
    assert (story.disk, story.conversation.exchanges, len(story.cancels)) == ({}, [], 1)
    story.writes(" more")
    story.ends(response, "cancelled")
    assert story.disk == {}
    story.ask("Two?")
    assert story.input == [("user", "Two?")]
    assert story.last.id == 2
    story.ends(story.starts(), "failed", "x")
    story.clear()
    assert len(story.cancels) == 1


def test_a_long_talk_leaves_its_older_half_behind() -> None:
    story = Story()
    text = "x" * (MOST_CHARACTERS // 4)
    for n in range(4):
        story.ask(f"{n}?")
        story.answers(text)
    assert story.conversation.reads_from == 1
    story.ask("more?")
    assert story.asked.previous_response_id is None
    assert story.conversation.reads_from == 4
    assert [role for role, _ in story.input] == ["user", "assistant", "user"]
    story.answers("y" * (MOST_CHARACTERS + 1))
    story.ask("and now?")
    assert (story.conversation.reads_from, story.input) == (6, [("user", "and now?")])


def test_other_events_and_lanes_are_not_ours() -> None:
    story = Story()
    story.hears(delta("nobody asked"))
    story.ask("One?")
    story.hears(delta("before it began"))
    story.hears(created("resp_x", "fast"))
    story.starts()
    story.hears(delta("of a suggestion", "fast"))
    story.hears(SuggestionStarted("q", "s", "r", "item_9", "deep", "file:///a", 1, Position(0, 0), stream_id=LANE))
    story.hears(TextDelta("item_9", "of a second opinion", 0, stream_id=LANE))
    story.hears(Pong(1, 0, 0, 0))
    assert (story.last.stage, story.last.answer) == ("sent", "")
    story.hears(completed("resp_1"))
    story.hears(completed("resp_1"))
    assert story.last.stage == "failed"


def server(state: str, share: float | None = None, role: str = "deep") -> ServerStatus:
    model = ModelStatus(name="q15", role=role, state=state, share=share)  # type: ignore[arg-type]  # table
    return ServerStatus("ready", "small", models=[model])


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "thinking"),
        (server("ready"), "thinking"),
        (server("starting", role="fast"), "thinking"),
        (server("failed"), "thinking"),
        (server("asleep"), "starting the model"),
        (server("starting"), "starting the model"),
        (server("downloading", 0.434), "model on its way, 43 %"),
        (server("downloading"), "model on its way"),
    ],
)
def test_why_nothing_comes_yet(status: ServerStatus | None, words: str) -> None:
    assert state_words(Exchange(1, "One?", stage="sent"), status) == words
    assert state_words(Exchange(1, "One?", stage="writing"), status) == "writing"
    assert state_words(Exchange(1, "One?", stage="sent"), None, "fast") == "thinking"


class Talk(RuleBasedStateMachine):
    """A person, a line and a server that do what they like; what was said is never lost and never mixed up."""

    @initialize()
    def begin(self) -> None:
        self.story = Story()
        self.answering: list[tuple[int, str]] = []  # creates the server has not ended: exchange, what it said of it
        self.creates_seen = 0
        self.up = True
        self.started = False

    def _collect(self) -> None:
        creates = self.story.all(ResponseCreate)
        if len(creates) > self.creates_seen:
            self.answering.append((self.story.last.id, ""))
        self.creates_seen = len(creates)

    @rule(question=st.sampled_from(["a?", "b?", "c?"]), along=st.booleans())
    def ask(self, question: str, along: bool) -> None:
        self.story.ask(question, CONTEXT if along else None)
        self._collect()

    @rule()
    def again(self) -> None:
        self.story.again()
        self._collect()

    @rule()
    def stop(self) -> None:
        self.story.stop()

    @rule()
    def clear(self) -> None:
        self.story.clear()
        assert self.story.disk == {}

    @rule(seconds=st.sampled_from([0.1, 0.9, 3.0]))
    def wait(self, seconds: float) -> None:
        self.story.wait(seconds)

    @rule()
    def toggle_line(self) -> None:
        self.up = not self.up
        if not self.up:
            self.answering.clear()
            self.started = False
        self.story.line("open" if self.up else "waiting")
        self._collect()

    @precondition(lambda self: self.answering)
    @rule(text=st.sampled_from(["x", "yy", ""]))
    def server_writes(self, text: str) -> None:
        if not self.started:
            self.story.starts()
            self.started = True
        number, _ = self.answering[0]
        self.story.writes(f"{number}{text} ")

    @precondition(lambda self: self.answering)
    @rule(status=st.sampled_from(["completed", "incomplete", "cancelled", "failed"]))
    def server_ends(self, status: str) -> None:
        response_id = "r" if self.started else self.story.starts()
        self.answering.pop(0)
        self.started = False
        self.story.ends(response_id, status, "It failed.")
        self._collect()

    @precondition(lambda self: self.answering and not self.started)
    @rule(code=st.sampled_from(["previous_response_not_found", "server_error"]))
    def server_refuses(self, code: str) -> None:
        self.answering.pop(0)
        self.story.refuses("No.", code)
        self._collect()

    @invariant()
    def each_answer_holds_only_its_own_words(self) -> None:
        for exchange in self.story.conversation.exchanges:
            assert all(word.rstrip("xy") == str(exchange.id) for word in exchange.answer.split())

    @invariant()
    def the_disk_has_every_question_and_lags_no_answer_that_ended(self) -> None:
        exchanges = self.story.conversation.exchanges
        assert set(self.story.disk) == {e.id for e in exchanges}
        for exchange in exchanges:
            kept = self.story.kept(exchange.id)
            assert exchange.answer.startswith(kept.answer)
            assert exchange.running or kept == exchange
        restored = Conversation([self.story.kept(n) for n in sorted(self.story.disk)])
        assert restored.running is None

    @invariant()
    def only_the_last_runs_and_the_screen_shows_what_is(self) -> None:
        exchanges = self.story.conversation.exchanges
        assert not any(e.running for e in exchanges[:-1])
        assert [self.story.screen[e.id] for e in exchanges] == exchanges


TestTalk = Talk.TestCase
TestTalk.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=30)
TestTalk.pytestmark = [pytest.mark.pure]  # type: ignore[attr-defined]  # hypothesis makes the class
