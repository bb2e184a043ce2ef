"""The far end of the line in memory: what a code session does with documents and replay, and nothing of models.

`Server` is joined to one `Line` by `Play`, which performs the line's actions and holds every frame until it is let
through, so that a test can cut, lose or delay at any point. Time is `play.now`.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import count

import msgspec

from offhook_server.core.documents import Documents
from offhook_server.core.outbox import Outbox
from offhook_server.core.replay import Replay, Sent
from offhook_wire import codec
from offhook_wire.line import (
    Action,
    AskByHttp,
    Connect,
    Deliver,
    Disconnect,
    Line,
    QuestionByHttp,
    State,
    StopHttp,
    StopQuestion,
    Transmit,
)
from offhook_wire.messages import (
    ClientEvent,
    DocumentDesync,
    DocumentDidChange,
    DocumentDidClose,
    DocumentDidOpen,
    Ping,
    Pong,
    ServerEvent,
    SessionHello,
    SessionReady,
    Suggest,
    TextDelta,
)
from offhook_wire.responses import ResponseCreate


def frames(actions: list[Action]) -> list[ClientEvent]:
    """What these actions put on the wire, read as the server reads it."""
    return [codec.decode_client(action.frame) for action in actions if isinstance(action, Transmit)]


class Session:
    """The server's memory of one app: documents, and what it has sent."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.documents = Documents("utf-16")
        self.outbox: Outbox | None = None
        self.asked: list[Suggest] = []
        self._replay = Replay()
        self._sequence = -1

    def greet(self, hello: SessionHello, outbox: Outbox, *, known: bool) -> None:
        missed = self._replay.since(hello.resume.last_seq, hello.resume.items) if known and hello.resume else None
        self.outbox = outbox
        states = self.documents.states()
        ready = SessionReady("s", "utf-16", self.token, missed is not None, None, documents=states)
        outbox.put(msgspec.structs.replace(ready, sequence_number=self._sequence))
        for frame in missed or []:
            outbox.put(frame)

    def emit(self, event: ServerEvent, now: float) -> ServerEvent:
        if isinstance(event, TextDelta):
            number, item = event.sequence_number, event.item_id
        else:
            self._sequence += 1
            number, item = self._sequence, None
            event = msgspec.structs.replace(event, sequence_number=number)
        self._replay.add(Sent(now, number, item, codec.encode(event)))
        if self.outbox:
            self.outbox.put(event)
        return event

    def receive(self, event: ClientEvent, now: float) -> None:
        match event:
            case DocumentDidOpen():
                self._report(self.documents.open(event), now)
            case DocumentDidChange():
                result = self.documents.change(event)
                self._report(result if isinstance(result, DocumentDesync) else None, now)
            case DocumentDidClose():
                self.documents.close(event.uri)
            case Suggest():
                self.asked.append(event)
            case Ping() if self.outbox:
                self.outbox.put(Pong(event.id, event.t0, now * 1e3, now * 1e3))
            case _:
                pass

    def _report(self, desync: DocumentDesync | None, now: float) -> None:
        if desync:
            self.emit(desync, now)


class Server:
    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._tokens = (f"rt_{n}" for n in count())

    def greet(self, hello: SessionHello, outbox: Outbox) -> Session:
        session = self._sessions.get(hello.resume.token) if hello.resume else None
        known = session is not None
        if session is None:
            session = Session(next(self._tokens))
            self._sessions[session.token] = session
        session.greet(hello, outbox, known=known)
        return session

    def restart(self) -> None:
        self._sessions.clear()


@dataclass
class Play:
    """One line, one server, the wire between them."""

    line: Line = field(default_factory=Line)
    server: Server = field(default_factory=Server)
    now: float = 0.0
    connecting: bool = False
    up: deque[bytes] = field(default_factory=deque)
    down: Outbox | None = None
    session: Session | None = None  # of the socket that is up
    delivered: list[ServerEvent] = field(default_factory=list)
    by_http: list[AskByHttp] = field(default_factory=list)
    questions: list[ResponseCreate] = field(default_factory=list)  # under way by HTTP: one at most

    def do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Connect():
                    self.connecting = True
                case Transmit(frame=frame):
                    self.up.append(frame)
                case Disconnect():
                    self._unplug()
                case AskByHttp():
                    self.by_http.append(action)
                case StopHttp():
                    self.by_http.clear()
                case QuestionByHttp(create=create):
                    self.questions.append(create)
                    assert len(self.questions) == 1
                case StopQuestion():
                    self.questions.pop()
                case Deliver(event=event):
                    self.delivered.append(event)

    def send(self, message: ClientEvent) -> None:
        self.do(self.line.send(message))

    def start(self) -> None:
        self.do(self.line.start())

    def accept(self) -> None:
        """The upgrade succeeds."""
        self.connecting = False
        self.down = Outbox()
        self.do([*self.line.dialling(self.now), *self.line.opened(self.now)])

    def refuse(self) -> None:
        self.do(self.line.refused(self.now))

    def cut(self) -> None:
        self.do(self.line.lost(self.now, 0.5))

    def wait_for(self, seconds: float) -> None:
        self.now += seconds
        self.do(self.line.tick(self.now, 0.5))

    def answer(self, event: ServerEvent, *, last: bool = False) -> None:
        """An event of the answer to the question that is under way by HTTP."""
        if last:
            self.questions.pop()
        self.do(self.line.heard(codec.encode(event)))

    def break_off(self) -> None:
        """That request fails."""
        if self.line.state is not State.HTTP:
            self.questions.pop()
        self.do(self.line.broke_off(self.now, 0.5))

    def carry_up(self, most: int | None = None) -> None:
        """Frames of the app reach the server."""
        while self.up and most != 0:
            event = codec.decode_client(self.up.popleft())
            if isinstance(event, SessionHello):
                assert self.down is not None
                self.session = self.server.greet(event, self.down)
            elif self.session:
                self.session.receive(event, self.now)
            most = None if most is None else most - 1

    def carry_down(self, most: int | None = None) -> None:
        """Frames of the server reach the app."""
        while self.down and most != 0 and (frame := self.down.take()):
            self.do(self.line.receive(frame, self.now))
            most = None if most is None else most - 1

    def settle(self) -> None:
        """Waits and accepts until the line is open and nothing is on the wire."""
        while self.line.state is not State.OPEN or self.up:
            if not self.connecting and self.line.state in (State.WAITING, State.HTTP):
                self.wait_for((self.line.deadline or self.now) - self.now)
            if self.connecting:
                self.accept()
            self.carry_up()
            self.carry_down()

    def _unplug(self) -> None:
        if self.session and self.session.outbox is self.down:
            self.session.outbox = None
        self.connecting, self.down, self.session = False, None, None
        self.up.clear()
