"""Typed questions: said while the line is open, or by HTTP; answered in numbers of their own; ended plainly by a cut."""

import pytest

from offhook_wire import codec
from offhook_wire.line import Deliver, State
from offhook_wire.messages import ErrorBody, ErrorEvent, Pong, ServerEvent, TextDelta
from offhook_wire.question import BROKE_OFF
from offhook_wire.responses import (
    ResponseCancel,
    ResponseCompleted,
    ResponseCreate,
    ResponseCreated,
    ResponseFailed,
    ResponseIncomplete,
    ResponseState,
)
from support.script import Play, frames

pytestmark = pytest.mark.pure


def test_a_question_is_said_only_while_the_line_is_open() -> None:
    play = Play()
    play.start()
    assert play.line.send(ResponseCreate("Why?")) == []
    play.accept()
    assert play.line.send(ResponseCancel()) == []
    play.settle()
    assert frames(play.line.send(ResponseCreate("Why?"))) == [ResponseCreate("Why?")]
    assert frames(play.line.send(ResponseCancel("resp_1"))) == [ResponseCancel("resp_1")]


def test_two_answers_may_bear_the_same_numbers() -> None:
    play = Play()
    play.start()
    play.settle()
    for name in ("resp_1", "resp_2"):
        state = ResponseState(name, "in_progress")
        events: list[ServerEvent] = [
            ResponseCreated(state, 0, "deep"),
            ResponseIncomplete(state, 7, "deep"),
            ResponseFailed(state, 7, "deep"),
            ResponseCompleted(state, 7, "deep"),
        ]
        for event in events:
            assert play.line.receive(codec.encode(event), play.now) == [Deliver(event)]


# -- by HTTP -----------------------------------------------------------------------------------------------------------


def by_http() -> Play:
    play = Play()
    play.start()
    play.refuse()
    return play


def created(lane: str | None = None) -> ResponseCreated:
    return ResponseCreated(ResponseState("resp_1", "in_progress"), 0, lane)


def completed(lane: str | None = None) -> ResponseCompleted:
    return ResponseCompleted(ResponseState("resp_1", "completed"), 2, lane)


def test_an_answer_by_http_is_told_as_if_it_came_on_its_lane() -> None:
    play = by_http()
    play.send(ResponseCreate("Why?"))
    assert play.questions == [ResponseCreate("Why?")]
    play.answer(created())
    play.answer(TextDelta("msg_1", "Because.", 1))
    play.answer(Pong(1, 0, 0, 0))  # not of an answer
    play.answer(completed(), last=True)
    assert play.delivered == [created("deep"), TextDelta("msg_1", "Because.", 1, "deep"), completed("deep")]
    play.do(play.line.heard(codec.encode(created())))  # too late
    assert len(play.delivered) == 3


def test_a_refusal_by_http_ends_the_question() -> None:
    play = by_http()
    play.send(ResponseCreate("Why?"))
    play.do(play.line.heard(b'{"error": {"message": "No such model."}}', 404))
    assert play.delivered == [ErrorEvent(ErrorBody("No such model."), 404, "deep")]
    assert play.line.send(ResponseCancel()) == []
    with pytest.raises(codec.BadFrame):
        play.line.heard(b"<html>", 502)


def test_closing_the_request_is_the_cancel_and_the_next_question_closes_it_too() -> None:
    play = by_http()
    for question in ("One?", "Two?"):
        play.send(ResponseCreate(question))
        assert play.questions == [ResponseCreate(question)]
    play.send(ResponseCancel())
    assert play.questions == []
    ended = ResponseIncomplete(ResponseState("", "cancelled"), stream_id="deep")
    assert play.delivered == [ended, ended]


def test_an_answer_by_http_goes_on_when_the_line_is_up_again() -> None:
    play = by_http()
    play.send(ResponseCreate("Why?"))
    play.settle()
    play.delivered.clear()
    play.answer(created())
    play.break_off()
    failed = ResponseFailed(ResponseState("", "failed", BROKE_OFF), stream_id="deep")
    assert play.delivered == [created("deep"), failed]
    assert (play.line.state, play.line.by_http) == (State.OPEN, False)
    assert play.line.broke_off(play.now, 0.5) == []


def test_a_request_that_breaks_off_means_that_the_line_is_lost() -> None:
    play = by_http()
    play.send(ResponseCreate("Why?"))
    play.break_off()
    assert (play.line.state, play.questions, play.delivered) == (State.WAITING, [], [])
    play.settle()
    assert frames(play.line.send(ResponseCreate("Why?"))) == [ResponseCreate("Why?")]


def test_stopping_the_line_closes_it() -> None:
    play = by_http()
    play.send(ResponseCreate("Why?"))
    play.do(play.line.stop())
    assert play.questions == []
