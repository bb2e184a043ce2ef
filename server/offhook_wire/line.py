"""The client's end of the line as a machine: connect, greet, resume, replay, fall back. Not a socket.

    closed ──start──▶ connecting ──opened──▶ greeting ──ready──▶ open
                        │   ▲  │                │                 │
              refused,  │   │  └────────────────┴──────lost───────┤ (also: two pings unanswered)
              no answer │   │ due (jittered back-off)             ▼
                        │   └───────────────────────────────── waiting
                        ▼
                      http ──a minute later──▶ connecting

Documents outlive connections: the line keeps each one's text and its last changes, so that after a cut it sends only
what the server lacks (by version and hash), or the whole text. While `http`, each suggestion travels as one request
with its document, and each typed question as one request; a question that a cut caught is not resumed: it ends plainly. Every method takes `now` (seconds) and returns what to do; `deadline` says when to call `tick`.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from msgspec import Struct, structs

from offhook_wire import codec
from offhook_wire.messages import (
    Cancel,
    Capabilities,
    Change,
    ClientEvent,
    DocumentDesync,
    DocumentDidChange,
    DocumentDidClose,
    DocumentDidOpen,
    DocumentState,
    ErrorEvent,
    Flow,
    ModelFetch,
    ModelStop,
    Ping,
    Pong,
    Quiet,
    Resume,
    ServerEvent,
    ServerStatus,
    SessionGoAway,
    SessionHello,
    SessionReady,
    Suggest,
    SuggestionDone,
    SuggestionFeedback,
    SuggestionRebased,
    SuggestionStarted,
    TextDelta,
    Usage,
    UsageWatch,
    WorkspaceDidChange,
)
from offhook_wire.question import Question
from offhook_wire.responses import (
    ResponseCancel,
    ResponseCompleted,
    ResponseCreate,
    ResponseCreated,
    ResponseFailed,
    ResponseIncomplete,
)
from offhook_wire.text import Encoding, Text
from offhook_wire.version import PRODUCT

CONNECT_LIMIT_S = 2.0  # an upgrade that is swallowed for so long is taken for refused
PING_EVERY_S = 1.6
MISSED_PINGS = 2  # then the socket is half-open: dead within 5 s
HTTP_RETRY_S = 60.0
BACKOFF_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 5.0)
KEPT_CHANGES = 512
KEPT_ITEMS = 32  # as many texts as a server may stream at once
LANE = "fast"


class State(StrEnum):
    CLOSED = "closed"
    CONNECTING = "connecting"
    GREETING = "greeting"
    OPEN = "open"
    WAITING = "waiting"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class Connect:
    """Find the server and open a WebSocket; answer with dialling, then opened, refused or lost."""


@dataclass(frozen=True, slots=True)
class Transmit:
    frame: bytes


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Drop the socket without waiting for its other end."""


@dataclass(frozen=True, slots=True)
class AskByHttp:
    """One suggestion as one request: the whole document and the question. Supersedes the one before."""

    document: DocumentDidOpen
    suggest: Suggest


@dataclass(frozen=True, slots=True)
class StopHttp:
    """Close the request under way: over HTTP that is the cancel."""


@dataclass(frozen=True, slots=True)
class QuestionByHttp:
    """One typed question as one request; say what comes of it with `heard` or `broke_off`."""

    create: ResponseCreate


@dataclass(frozen=True, slots=True)
class StopQuestion:
    """Close its request."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """An event for the app."""

    event: ServerEvent


Action = Connect | Transmit | Disconnect | AskByHttp | StopHttp | QuestionByHttp | StopQuestion | Deliver


@dataclass(slots=True)
class Document:
    """What the app has said of one document: its text now, and the changes that led here, oldest first."""

    language_id: str
    version: int
    text: Text
    changes: deque[DocumentDidChange] = field(default_factory=lambda: deque(maxlen=KEPT_CHANGES))

    def opening(self, uri: str) -> DocumentDidOpen:
        text = str(self.text)
        return DocumentDidOpen(uri, self.language_id, self.version, text, self.text.hash)

    def catching_up(self, uri: str, theirs: DocumentState | None) -> list[DocumentDidChange] | list[DocumentDidOpen]:
        """What a server that has `theirs` must hear to have this: nothing, the later changes, or the whole text."""
        if theirs and (theirs.version, theirs.hash) == (self.version, self.text.hash):
            return []
        later = [c for c in self.changes if theirs and c.base_version >= theirs.version]
        if not theirs or not later or later[0].base_version != theirs.version:
            return [self.opening(uri)]
        # the hash tells the server if its text of that version was another one, of before a close and open
        return [*later[:-1], structs.replace(later[-1], hash=self.text.hash)]


class Line:
    """One app's line. `state`, `attempt`, `retry_at` and `round_trip_ms` are there to be shown."""

    def __init__(self, workspace_folders: list[str] | None = None, encoding: Encoding = "utf-16") -> None:
        self.state = State.CLOSED
        self.attempt = 0
        self.retry_at: float | None = None
        self.round_trip_ms: float | None = None
        self._folders = workspace_folders or []
        self._encoding: Encoding = encoding
        self._documents: dict[str, Document] = {}
        self._wishes: dict[type[Quiet] | type[UsageWatch], Quiet | UsageWatch] = {}  # the newest of each holds
        self._token: str | None = None
        self._last_seq = -1
        self._items: dict[str, int] = {}
        self._credits: int | None = None
        self._held: Suggest | None = None
        self._by_http = False  # since the WebSocket was refused, also while it is tried again
        self._question = Question()  # of HTTP; it may outlast `http`
        self._ping_id = 0
        self._unanswered = 0
        self._timer: float | None = None  # of connecting (limit), open (next ping), waiting and http (retry)

    @property
    def by_http(self) -> bool:
        """Whether what the app says goes by HTTP now."""
        return self._by_http

    @property
    def deadline(self) -> float | None:
        return self._timer

    # -- connection ---------------------------------------------------------------------------------------------

    def start(self) -> list[Action]:
        """Look for the server; it may have to be started first, which takes its time."""
        self.state = State.CONNECTING
        self.retry_at = None
        self._timer = None
        return [Connect()]

    def dialling(self, now: float) -> list[Action]:
        """The server is known and the upgrade is on its way: from now on its answer is waited for."""
        self._timer = now + CONNECT_LIMIT_S
        return []

    def stop(self) -> list[Action]:
        self.state = State.CLOSED
        self._timer = self.retry_at = None
        return [*self._drop_question(), Disconnect()]

    def opened(self, now: float) -> list[Action]:
        """The WebSocket is up: greet. Until `ready` nothing else is said."""
        self.state = State.GREETING
        self._timer = now + CONNECT_LIMIT_S
        resume = Resume(self._token, self._last_seq, dict(self._items)) if self._token else None
        capabilities = Capabilities([self._encoding])
        return [_frame(SessionHello(f"offhook/{PRODUCT}", capabilities, self._folders, resume))]

    def refused(self, now: float) -> list[Action]:
        """The upgrade was answered with something else: HTTP on the first try, the WebSocket again in a minute."""
        self.state = State.HTTP
        self._by_http = True
        self.attempt = 0
        self._timer = self.retry_at = now + HTTP_RETRY_S
        return [Disconnect()]

    def lost(self, now: float, roll: float) -> list[Action]:
        """The connection failed or ended; `roll` (0 to 1) is the jitter."""
        if self.state in (State.CLOSED, State.WAITING):
            return []
        pause = BACKOFF_S[min(self.attempt, len(BACKOFF_S) - 1)]
        self.attempt += 1
        self.state = State.WAITING
        self._by_http = False
        self.round_trip_ms = None
        self._timer = self.retry_at = now + pause * (0.5 + roll / 2)
        return [*self._drop_question(), Disconnect()]

    def tick(self, now: float, roll: float) -> list[Action]:
        if self._timer is None or now < self._timer:
            return []
        if self.state is State.CONNECTING:
            return self.refused(now)
        if self.state in (State.WAITING, State.HTTP):
            return self.start()
        if self.state is State.OPEN and self._unanswered < MISSED_PINGS:
            return self._ping(now)
        return self.lost(now, roll)

    def _ping(self, now: float) -> list[Action]:
        self._ping_id += 1
        self._unanswered += 1
        self._timer = now + PING_EVERY_S
        return [_frame(Ping(self._ping_id, now * 1e3))]

    # -- what the app says --------------------------------------------------------------------------------------

    def send(self, message: ClientEvent) -> list[Action]:
        """A message of the app. Document events are kept until the server has them; a suggestion is of the moment."""
        match message:
            case DocumentDidOpen() | DocumentDidChange() | DocumentDidClose():
                self._keep(message)
                return [_frame(message)] if self.state is State.OPEN else []
            case Suggest():
                return self._suggest(message)
            case WorkspaceDidChange():
                self._folders = message.workspace_folders
                return [_frame(message)] if self.state is State.OPEN else []
            case Cancel() if self._held and self._held.request_id == message.request_id:
                self._held = None
                return []
            case Cancel() if self._by_http:
                return [StopHttp()]
            case ResponseCreate() if self._by_http:
                stopping = self._stop_question()
                self._question.ask(message)
                return [*stopping, QuestionByHttp(message)]
            case ResponseCancel() if self._question.asked:
                return self._stop_question()
            case Quiet() | UsageWatch():
                self._wishes[type(message)] = message
                return [_frame(message)] if self.state is State.OPEN else []
            case (
                Cancel()
                | SuggestionFeedback()
                | ModelFetch()
                | ModelStop()
                | SessionHello()
                | Ping()
                | ResponseCreate()
                | ResponseCancel()
            ):
                return [_frame(message)] if self.state is State.OPEN else []
            case _:
                assert_never(message)

    def _keep(self, message: DocumentDidOpen | DocumentDidChange | DocumentDidClose) -> None:
        match message:
            case DocumentDidOpen():
                self._documents[message.uri] = Document(message.language_id, message.version, Text(message.text))
            case DocumentDidClose():
                self._documents.pop(message.uri, None)
            case DocumentDidChange():
                document = self._documents[message.uri]
                for change in message.content_changes:
                    _apply(document.text, change, self._encoding)
                document.version = message.version
                document.changes.append(message)
            case _:
                assert_never(message)

    def _suggest(self, message: Suggest) -> list[Action]:
        self._held = None
        if self._by_http:
            return [AskByHttp(self._documents[message.uri].opening(message.uri), message)]
        if self.state is not State.OPEN:
            return []
        frame = _frame(message)
        if self._credits is not None and len(frame.frame) > self._credits:
            self._held = message  # the newest waits for credit; one it replaces is superseded anyway
            return []
        if self._credits is not None:
            self._credits -= len(frame.frame)
        return [frame]

    # -- a question by HTTP -------------------------------------------------------------------------------------

    def heard(self, frame: bytes, status: int = 200) -> list[Action]:
        """An event of the answer, or with another status what refuses it. Raises codec.BadFrame."""
        event = self._question.hear(frame) if status == 200 else self._question.refused(status, frame)
        return [Deliver(event)] if event else []

    def broke_off(self, now: float, roll: float) -> list[Action]:
        """The request failed: the server is looked for again, unless a line has been found in the meantime."""
        if self.state is State.HTTP:
            return self.lost(now, roll)
        return [Deliver(self._question.broke_off())] if self._question.asked else []

    def _stop_question(self) -> list[Action]:
        return [StopQuestion(), Deliver(self._question.stopped())] if self._question.asked else []

    def _drop_question(self) -> list[Action]:
        """The app is told that the line is lost, and its questions with it."""
        asked = self._question.asked
        self._question.forget()
        return [StopQuestion()] if asked else []

    # -- what the server says -----------------------------------------------------------------------------------

    def receive(self, frame: bytes | str, now: float) -> list[Action]:
        """A frame from the socket. Raises codec.BadFrame: the caller treats the connection as lost."""
        event = codec.decode_server(frame)
        if event is None or not self._is_new(event):
            return []
        match event:
            case SessionReady():
                return self._ready(event, now)
            case DocumentDesync():
                return self._resend(event)
            case Pong():
                self._unanswered = 0
                self.round_trip_ms = max(0.0, (now * 1e3 - event.t0) - (event.t2 - event.t1))
            case Flow():
                self._credits = event.credits.get(LANE)
                held, self._held = self._held, None
                return self._suggest(held) if held else []
            case (
                SuggestionStarted()
                | SuggestionRebased()
                | SuggestionDone()
                | SessionGoAway()
                | ServerStatus()
                | Usage()
                | TextDelta()
                | ResponseCreated()
                | ResponseCompleted()
                | ResponseIncomplete()
                | ResponseFailed()
                | ErrorEvent()
            ):
                pass
            case _:
                assert_never(event)
        return [Deliver(event)]

    def _is_new(self, event: ServerEvent) -> bool:
        """Replay may repeat what came before the cut; no frame counts twice."""
        match event:
            case TextDelta():
                if event.sequence_number <= self._items.get(event.item_id, -1):
                    return False
                self._items.pop(event.item_id, None)
                self._items[event.item_id] = event.sequence_number
                if len(self._items) > KEPT_ITEMS:
                    self._items.pop(next(iter(self._items)))
            case SessionReady():
                if not event.resumed:
                    self._last_seq = event.sequence_number
                    self._items.clear()
            case Pong() | Usage() | ErrorEvent():
                pass
            case ResponseCreated() | ResponseCompleted() | ResponseIncomplete() | ResponseFailed():
                pass  # numbered within their response
            case _:
                if event.sequence_number <= self._last_seq:
                    return False
                self._last_seq = event.sequence_number
        return True

    def _ready(self, ready: SessionReady, now: float) -> list[Action]:
        self.state = State.OPEN
        self._by_http = False
        self.attempt = 0
        self.retry_at = None
        self._token = ready.resume_token
        self._unanswered = 0
        self._credits = None
        self._held = None
        has = {d.uri: d for d in ready.documents}
        actions: list[Action] = [Deliver(ready)]
        for uri, document in self._documents.items():
            actions += [_frame(message) for message in document.catching_up(uri, has.get(uri))]
        actions += [_frame(DocumentDidClose(uri)) for uri in has if uri not in self._documents]
        actions += [_frame(wish) for wish in self._wishes.values()]
        return [*actions, *self._ping(now)]

    def _resend(self, desync: DocumentDesync) -> list[Action]:
        """The server lost step; the text is here, so the app need not know."""
        document = self._documents.get(desync.uri)
        return [_frame(document.opening(desync.uri))] if document else []


def _frame(message: Struct) -> Transmit:
    return Transmit(codec.encode(message))


def _apply(text: Text, change: Change, encoding: Encoding) -> None:
    start = text.point(change.range.start.line, change.range.start.character, encoding)
    end = text.point(change.range.end.line, change.range.end.character, encoding)
    text.replace(start, end, change.text)
