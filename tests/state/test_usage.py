"""What became of requests, and what the small model's decodes were like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_app.state.keystroke import MOST_OPEN
from offhook_app.state.usage import Decodes, Requests
from offhook_wire.messages import FeedbackItem, Outcome, SuggestionDone, Timing

pytestmark = pytest.mark.pure


def ended(requests: Requests, request_id: str, copy: Outcome, small: Outcome) -> None:
    requests.done(SuggestionDone(request_id, "copy", copy))
    requests.done(SuggestionDone(request_id, "small", small))


def counts(requests: Requests) -> tuple[int, int, int, int]:
    return requests.asked, requests.shown, requests.wasted, requests.cancelled


def test_a_request_is_open_until_its_last_word() -> None:
    requests = Requests()
    requests.ask("r", "fast")
    assert counts(requests) == (1, 0, 0, 0)
    requests.done(SuggestionDone("r", "copy", "unsure"))
    assert counts(requests) == (1, 0, 0, 0)
    requests.done(SuggestionDone("r", "small", "empty"))
    assert counts(requests) == (1, 0, 1, 0)


def test_one_that_is_shown_is_not_wasted_whatever_comes_first() -> None:
    requests = Requests()
    requests.ask("early", "fast")
    requests.show("early")
    requests.show("early")
    ended(requests, "early", "unsure", "superseded")
    requests.ask("late", "fast")
    ended(requests, "late", "finished", "unneeded")
    requests.show("late")
    requests.show("never asked")
    assert counts(requests) == (2, 2, 0, 0)


def test_superseded_and_cancelled_ones_are_counted_once() -> None:
    requests = Requests()
    for request_id in ("a", "b"):
        requests.ask(request_id, "fast")
    ended(requests, "a", "superseded", "superseded")
    ended(requests, "b", "empty", "cancelled")
    ended(requests, "never asked", "cancelled", "cancelled")
    assert counts(requests) == (2, 0, 2, 2)
    for n in range(MOST_OPEN):
        requests.ask(str(n), "fast")
    assert counts(requests) == (2 + MOST_OPEN, 0, 2, 2)


def test_on_the_deep_lane_one_model_has_the_last_word() -> None:
    requests = Requests()
    requests.ask("d", "deep")
    requests.done(SuggestionDone("d", "deep", "failed"))
    assert counts(requests) == (1, 0, 1, 0)


def test_taken_as_a_whole_or_in_part() -> None:
    requests = Requests()
    requests.feedback([FeedbackItem("s", "accepted"), FeedbackItem("t", "partial"), FeedbackItem("u", "ignored")])
    assert requests.accepted == 2


@given(
    st.lists(
        st.tuples(
            st.integers(0, MOST_OPEN * 2), st.sampled_from(["ask", "show", "finished", "superseded"]), st.booleans()
        )
    )
)
def test_nothing_is_lost(story: list[tuple[int, str, bool]]) -> None:
    requests = Requests()
    asked = set()
    for number, what, copy in story:
        name = str(number)
        if what == "ask" and name not in asked:
            asked.add(name)
            requests.ask(name, "fast")
        elif what == "show":
            requests.show(name)
        elif what in ("finished", "superseded"):
            outcome: Outcome = "finished" if what == "finished" else "superseded"
            requests.done(SuggestionDone(name, "copy" if copy else "small", outcome))
        assert requests.asked >= requests.shown + requests.wasted >= 0
        assert 0 <= requests.cancelled <= requests.asked - requests.shown


def test_decodes() -> None:
    decodes = Decodes()
    assert decodes.cached_share_by_token is None
    assert decodes.cached_share_by_request is None
    decodes.done(Timing())  # never reached the engine
    decodes.done(Timing(prompt_tokens=300, cached_tokens=300, output_tokens=1, decode_ms=0.0))
    assert decodes.tokens_per_s.last is None
    decodes.done(Timing(prompt_tokens=100, cached_tokens=0, output_tokens=11, decode_ms=500.0))
    assert decodes.tokens_per_s.last == 20.0
    assert decodes.cached_share_by_token == 0.75
    assert decodes.cached_share_by_request == 0.5
