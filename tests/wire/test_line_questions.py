"""Typed questions on the line: said while it is open, answered in numbers of their own."""

import pytest

from offhook_wire import codec
from offhook_wire.line import Deliver
from offhook_wire.messages import ServerEvent
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
