"""A local chat model that was to complete code: its code passes, its talk does not."""

import pytest

from offhook_server.backends.base import Delta, Piece, Progress
from offhook_server.backends.talk import TALK, WithoutTalk
from offhook_server.core.fim import Infill
from offhook_server.errors import BackendError

pytestmark = pytest.mark.pure

GAP = Infill("x = f(", ")\n", "this.py", ())


class Ticket:
    def __init__(self, *, cancelled: bool = False) -> None:
        self.pieces: list[Piece] = []
        self.cancelled = cancelled

    def __call__(self, piece: Piece) -> bool:
        self.pieces.append(piece)
        return self.cancelled

    def wait(self, seconds: float | None) -> bool:
        return self.cancelled

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Delta))


def test_code_passes_as_it_comes() -> None:
    ticket = Ticket()
    emit = WithoutTalk(ticket, GAP)
    assert not emit(Progress(1, 2, 2, 0))
    for text in ("x", " + y", "\n"):
        assert not emit(Delta(1, text))
    emit.finish(1)
    assert ticket.pieces == [Progress(1, 2, 2, 0), Delta(1, "x"), Delta(1, " + y"), Delta(1, "\n")]


def test_talk_before_code_is_left_out_and_what_follows_it_stops_the_engine() -> None:
    ticket = Ticket()
    emit = WithoutTalk(ticket, GAP)
    assert not any(emit(Delta(1, text)) for text in ("Sure", ":\n", "```\n", "x + y"))
    assert emit(Delta(1, "\n```"))
    emit.finish(1)
    assert ticket.text == "x + y"


def test_nothing_but_talk_is_a_fault() -> None:
    ticket = Ticket()
    emit = WithoutTalk(ticket, GAP)
    assert not emit(Delta(1, "I'm sorry, I can't do that."))
    with pytest.raises(BackendError, match=TALK):
        emit.finish(1)
    assert ticket.pieces == []


def test_a_cancel_is_heard_also_while_talk_is_held_back() -> None:
    emit = WithoutTalk(Ticket(cancelled=True), GAP)
    assert emit(Delta(1, "Sure"))
    assert emit.wait(None)
