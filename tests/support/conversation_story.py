"""A person asking, without a window: the server spoken for by the test, the disk a dictionary."""

from typing import TypeVar

import msgspec

from offhook_app.state.context import Context
from offhook_app.state.conversation import LANE, Action, Conversation, Forget, Keep, Send, Show
from offhook_app.state.exchange import Exchange
from offhook_app.state.line_state import LineState
from offhook_wire.messages import ClientEvent, ErrorBody, ErrorEvent, ServerEvent
from offhook_wire.responses import ResponseCancel, ResponseCreate
from support.answers import completed, created, delta, failed, incomplete

M = TypeVar("M")
CONTEXT = Context("a.py", "python", 1, 1, 1, "x = 1")


class Story:
    """`disk` is what would be found after a kill at this moment, `screen` the newest shown of each exchange."""

    def __init__(self, kept: list[Exchange] | None = None, *, up: bool = True) -> None:
        self.now = 100.0
        self.conversation = Conversation(kept or [])
        self.sent: list[ClientEvent] = []
        self.disk: dict[int, bytes] = {exchange.id: msgspec.json.encode(exchange) for exchange in kept or []}
        self.screen: dict[int, Exchange] = {exchange.id: exchange for exchange in kept or []}
        self.keeps = self.responses = 0
        if up:
            self.line("open")

    # -- what happens ---------------------------------------------------------------------------------------------

    def do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Send(message):
                    self.sent.append(message)
                case Keep(exchange):
                    self.keeps += 1
                    self.disk[exchange.id] = msgspec.json.encode(exchange)
                case Show(exchange):
                    self.screen[exchange.id] = exchange
                    assert self.kept(exchange.id).question == exchange.question
                    if exchange.stage != "writing":
                        assert self.kept(exchange.id) == exchange
                case Forget():
                    self.disk.clear()
                    self.screen.clear()

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while (deadline := self.conversation.deadline) is not None and deadline <= until:
            self.now = deadline
            self.do(self.conversation.tick(self.now))
        self.now = until

    def line(self, kind: str) -> None:
        self.do(self.conversation.line(LineState(kind), self.now))  # type: ignore[arg-type]  # the tests know the kinds

    def ask(self, question: str, context: Context | None = None) -> Exchange:
        self.do(self.conversation.ask(question, context, self.now))
        return self.last

    def again(self) -> None:
        self.do(self.conversation.ask_again(self.now))

    def stop(self) -> None:
        self.do(self.conversation.stop(self.now))

    def clear(self) -> None:
        self.do(self.conversation.clear())

    # -- the server's side ----------------------------------------------------------------------------------------

    def hears(self, event: ServerEvent) -> None:
        self.do(self.conversation.received(event, self.now))

    def starts(self) -> str:
        self.responses += 1
        response_id = f"resp_{self.responses}"
        self.hears(created(response_id))
        return response_id

    def writes(self, *pieces: str) -> None:
        for piece in pieces:
            self.hears(delta(piece))

    def ends(self, response_id: str, status: str = "completed", message: str = "") -> None:
        if status == "completed":
            self.hears(completed(response_id))
        elif status == "failed":
            self.hears(failed(response_id, message))
        else:
            self.hears(incomplete(response_id, status))

    def answers(self, text: str) -> str:
        response_id = self.starts()
        self.writes(text)
        self.ends(response_id)
        return response_id

    def refuses(self, message: str, code: str | None = None, lane: str | None = LANE) -> None:
        self.hears(ErrorEvent(ErrorBody(message, code=code), stream_id=lane))

    # -- what was seen and sent -----------------------------------------------------------------------------------

    @property
    def last(self) -> Exchange:
        return self.conversation.exchanges[-1]

    def kept(self, exchange_id: int) -> Exchange:
        return msgspec.json.decode(self.disk[exchange_id], type=Exchange)

    def all(self, kind: type[M]) -> list[M]:
        return [message for message in self.sent if isinstance(message, kind)]

    @property
    def asked(self) -> ResponseCreate:
        return self.all(ResponseCreate)[-1]

    @property
    def cancels(self) -> list[ResponseCancel]:
        return self.all(ResponseCancel)

    @property
    def input(self) -> list[tuple[str, str]]:
        """Of the newest request: who, what."""
        assert isinstance(self.asked.input, list)
        return [(item["role"], item["content"][0]["text"]) for item in self.asked.input]
