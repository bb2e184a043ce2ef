"""One app's session on the line: `offhook:` events in, documents and lanes driven, events out. Outlives its socket.

The first event is `session.hello`. A session whose socket went keeps working for a minute, its events kept for replay;
a hello with its token takes it up again, on whatever socket it comes. Nothing about suggestions is decided here.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never
from uuid import uuid4

import msgspec
from msgspec import Struct

from offhook_server import metrics
from offhook_server.backends.base import Model
from offhook_server.core.documents import Documents
from offhook_server.core.engines import Role
from offhook_server.core.replay import Replay, Sent
from offhook_server.core.slots import Slots
from offhook_server.errors import PeerError
from offhook_server.gateway.services import Outbox
from offhook_server.lanes.deep import DeepLane
from offhook_server.lanes.fast import LANE, FastLane
from offhook_server.lanes.workspace import Workspace, path_of
from offhook_wire import codec
from offhook_wire.messages import (
    Cancel,
    ClientEvent,
    DocumentDidChange,
    DocumentDidClose,
    DocumentDidOpen,
    Flow,
    Limits,
    ModelFetch,
    ModelStop,
    Ping,
    Pong,
    Quiet,
    Resume,
    ServerStatus,
    SessionHello,
    SessionReady,
    Suggest,
    SuggestionFeedback,
    TextDelta,
    Usage,
    UsageWatch,
    WorkspaceDidChange,
)
from offhook_wire.privacy import never_sent
from offhook_wire.responses import ResponseCancel, ResponseCreate
from offhook_wire.text import Encoding, OutOfText

RESUME_S = 60.0
MOST_SESSIONS = 64
CREDIT_BYTES = 65536
USAGE_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What every session is built from."""

    workspace: Workspace
    small_model: Callable[[], Model | None]
    fetch_model: Callable[[str], None]
    status: Callable[[], ServerStatus]
    clock: Callable[[], float]
    limits: Limits
    slots: Slots = field(default_factory=Slots)
    deep_model: Callable[[], Model | None] = lambda: None
    stop_model: Callable[[str], None] = lambda name: None
    warm: Callable[[Role], None] = lambda role: None
    automatic: Callable[[], bool] = lambda: True  # whether anything may be decoded that nobody asked for
    quiet: Callable[[bool], None] = lambda on: None
    usage: Callable[[], Usage] = lambda: Usage(0.0, 0.0)


class CodeSession:
    """Everything that lives from hello to the end of the session."""

    def __init__(self, parts: Parts, encoding: Encoding) -> None:
        self.token = f"rt_{uuid4().hex}"
        self.outbox: Outbox | None = None
        self.expiry: asyncio.TimerHandle | None = None
        self._id = f"s_{uuid4().hex[:12]}"
        self._parts = parts
        self._encoding: Encoding = encoding
        self._sequence = -1
        self._credit_spent = 0
        self._replay = Replay()
        self._documents = Documents(encoding)
        self._usage_timer: asyncio.TimerHandle | None = None
        self._fast = FastLane(self._documents, parts.workspace, parts.small_model, self.emit, parts.clock, parts.slots)
        self._deep = DeepLane(self._documents, parts.deep_model, self.emit, parts.clock)
        self._lanes = (self._fast, self._deep)

    def ready(self, outbox: Outbox, resume: Resume | None) -> None:
        """Takes `outbox` for its own and tells the client where it stands; replays what a resumed client missed."""
        self._parts.warm("fast")
        missed = self._replay.since(resume.last_seq, resume.items) if resume else None
        self.outbox = outbox
        ready = SessionReady(
            session_id=self._id,
            position_encoding=self._encoding,
            resume_token=self.token,
            resumed=missed is not None,
            replay_from=resume.last_seq + 1 if resume and missed is not None else None,
            limits=self._parts.limits,
            documents=self._documents.states(),
            sequence_number=self._sequence,
        )
        outbox.send(ready)
        for frame in missed or []:
            outbox.send(frame)
        self.emit(self._parts.status())
        self._grant()

    def emit(self, event: Struct) -> None:
        """Numbers, keeps and sends an event."""
        if isinstance(event, TextDelta):
            number, item = event.sequence_number, event.item_id
        else:
            self._sequence += 1
            number, item = self._sequence, None
            event = msgspec.structs.replace(event, sequence_number=number)
        self._replay.add(Sent(self._parts.clock(), number, item, codec.encode(event)))
        if self.outbox:
            self.outbox.send(event)

    def receive(self, event: ClientEvent, size: int, received_at: float) -> None:
        """Any event but hello. Raises PeerError."""
        match event:
            case DocumentDidOpen() | DocumentDidChange() | DocumentDidClose():
                self._document(event)
            case Suggest():
                self._suggest(event, received_at)
                self._spend(size)
            case WorkspaceDidChange():
                self.open_folders(event.workspace_folders)
            case Cancel():
                self._cancel(event.request_id)
            case SuggestionFeedback():
                _count(event)
            case ModelFetch() | ModelStop() | Quiet() | UsageWatch():
                self._wish(event)
            case Ping():
                self._pong(event, received_at)
            case SessionHello():
                raise PeerError("This session was greeted already.", code="already_greeted")
            case ResponseCreate() | ResponseCancel():  # they are of the connection: responses_ws takes them
                raise PeerError("This event is not of a session.", code="unknown_event", param="type")
            case _:
                assert_never(event)

    def open_folders(self, folders: list[str]) -> None:
        """One folder is read for now: the first."""
        for folder in folders[:1]:
            self._parts.workspace.open_folder(folder)

    def _pong(self, ping: Ping, received_at: float) -> None:
        if self.outbox:
            self.outbox.send(Pong(ping.id, ping.t0, received_at * 1e3, self._parts.clock() * 1e3))

    def _wish(self, event: ModelFetch | ModelStop | Quiet | UsageWatch) -> None:
        match event:
            case ModelFetch():
                self._parts.fetch_model(event.name)
            case ModelStop():
                self._parts.stop_model(event.name)
            case Quiet():
                self._parts.quiet(event.on)
            case UsageWatch():
                self._watch(event.on)

    def _watch(self, on: bool) -> None:
        if self._usage_timer:
            self._usage_timer.cancel()
            self._usage_timer = None
        if on:
            if self.outbox:
                self.outbox.send(self._parts.usage())
            self._usage_timer = asyncio.get_running_loop().call_later(USAGE_EVERY_S, self._watch, True)

    def _document(self, event: DocumentDidOpen | DocumentDidChange | DocumentDidClose) -> None:
        match event:
            case DocumentDidOpen():
                self._open(event)
            case DocumentDidChange():
                self._change(event)
            case DocumentDidClose():
                self._documents.close(event.uri)
                self._gone(event.uri)
                self._parts.workspace.close_document(event.uri)

    def _cancel(self, request_id: str) -> None:
        for lane in self._lanes:
            lane.cancel(request_id)

    def _gone(self, uri: str) -> None:
        """No lane may go on with a text that is not there any more."""
        for lane in self._lanes:
            lane.closed(uri)

    def _open(self, event: DocumentDidOpen) -> None:
        self._gone(event.uri)
        desync = self._documents.open(event)
        if desync:
            self.emit(desync)
        else:
            self._parts.workspace.document(event.uri, event.text)
            self._parts.warm("deep")

    def _change(self, event: DocumentDidChange) -> None:
        result = self._documents.change(event)
        if isinstance(result, list):
            for lane in self._lanes:
                lane.edited(event.uri, result)
            document = self._documents.current(event.uri, event.version)
            if document:
                text = document.text
                self._parts.workspace.edited(event.uri, lambda: str(text))
        else:
            self._gone(event.uri)
            self.emit(result)

    def _suggest(self, event: Suggest, received_at: float) -> None:
        document = self._documents.current(event.uri, event.version)
        if document is None or never_sent(path_of(event.uri)):
            lane = self._deep if event.lane == "deep" else self._fast
            lane.refuse(event, "out_of_step" if document is None else "never_sent")
            return
        try:
            at = self._documents.point(document.text, event.position)
        except OutOfText:
            raise PeerError("The position is not in the document.", code="invalid_position", param="position") from None
        if event.lane == "deep":
            self._deep.suggest(event, document, at, received_at)
            return
        decode = event.trigger_kind == "invoked" or self._parts.automatic()
        self._fast.suggest(event, document, at, received_at, decode=decode)

    def _spend(self, size: int) -> None:
        self._credit_spent += size
        if self._credit_spent >= CREDIT_BYTES // 2:
            self._grant()

    def _grant(self) -> None:
        self._credit_spent = 0
        self.emit(Flow({LANE: CREDIT_BYTES}, self._fast.queue_depth))

    async def close(self) -> None:
        self.outbox = None
        self._watch(False)
        for lane in self._lanes:
            await lane.close()


def _count(feedback: SuggestionFeedback) -> None:
    for item in feedback.items:
        metrics.feedback.labels(outcome=item.outcome, shown=str(item.was_shown).lower()).inc()
