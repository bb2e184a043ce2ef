"""Every message of Offhook's own on the line, one flat struct each; `codec` turns them into frames and back.

They ride beside the OpenAI Responses events on one WebSocket, named `offhook:<name>` (the Open Responses rule for
extensions): unknown ones are ignored by foreign clients. Field names on the wire are LSP's (camelCase), but for
`sequence_number`, `stream_id` and `item_id`, which are OpenAI's. Golden files in tests/wire/golden show every one.
"""

from typing import Literal

from msgspec import Struct, field

from offhook_wire.responses import (
    ResponseCancel,
    ResponseCompleted,
    ResponseCreate,
    ResponseCreated,
    ResponseFailed,
    ResponseIncomplete,
)


class Position(Struct, frozen=True):
    """Zero-based; `character` counts units of the agreed position encoding."""

    line: int
    character: int


class Range(Struct, frozen=True):
    start: Position
    end: Position


class Change(Struct, frozen=True):
    range: Range
    text: str


# -- client to server ---------------------------------------------------------------------------------------------


class Capabilities(Struct, frozen=True, rename="camel"):
    position_encodings: list[str] = field(default_factory=lambda: ["utf-16"])
    lanes: int = 16


class Resume(Struct, frozen=True, rename="camel"):
    """`last_seq`: newest `offhook:` event seen. `items`: newest sequence number seen of each item still streaming."""

    token: str
    last_seq: int = -1
    items: dict[str, int] = field(default_factory=dict)


class SessionHello(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:session.hello"):
    client: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    workspace_folders: list[str] = field(default_factory=list)  # file: URIs; what the copy model reads
    resume: Resume | None = None
    event_id: str | None = None


class WorkspaceDidChange(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:workspace.didChange"):
    """Another folder is open now."""

    workspace_folders: list[str]
    event_id: str | None = None


class DocumentDidOpen(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:document.didOpen"):
    uri: str
    language_id: str
    version: int
    text: str
    hash: str
    event_id: str | None = None


class DocumentDidChange(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:document.didChange"):
    """`content_changes` apply in order, each to the text the one before left. `hash` comes every 64 versions."""

    uri: str
    base_version: int
    version: int
    content_changes: list[Change]
    hash: str | None = None
    event_id: str | None = None


class DocumentDidClose(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:document.didClose"):
    uri: str
    event_id: str | None = None


Lane = Literal["fast", "deep"]
Source = Literal["copy", "small", "deep"]


class Suggest(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:suggest"):
    """On the fast lane the copy and the small model answer; on the deep lane the deep one alone, at once and at length."""

    request_id: str
    uri: str
    version: int
    position: Position
    trigger_kind: Literal["automatic", "invoked"] = "automatic"
    priority: int = 0
    deadline_ms: int | None = None
    supersedes: str | None = None
    lane: Lane = "fast"
    event_id: str | None = None


class Cancel(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:cancel"):
    request_id: str
    event_id: str | None = None


class FeedbackItem(Struct, frozen=True, rename="camel"):
    suggestion_id: str
    outcome: Literal["accepted", "partial", "rejected", "ignored", "replaced"]
    accepted_length: int = 0
    was_shown: bool = False
    e2e_latency_ms: float | None = None


class SuggestionFeedback(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:suggestion.feedback"):
    items: list[FeedbackItem]
    event_id: str | None = None


class ModelFetch(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:model.fetch"):
    """The person said yes to the download that `offhook:status` named."""

    name: str
    event_id: str | None = None


class ModelStop(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:model.stop"):
    """No more of that download; what has arrived is kept."""

    name: str
    event_id: str | None = None


class Quiet(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:quiet"):
    """The person wants no automatic decodes for now; the copy model goes on, and an invoked suggestion still works."""

    on: bool
    event_id: str | None = None


class UsageWatch(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:usage.watch"):
    """Somebody looks at the figures: `offhook:usage` comes now and every two seconds, until `on` is false."""

    on: bool
    event_id: str | None = None


class Ping(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:ping"):
    """`t0` is the client's own clock, in ms; the server hands it back."""

    id: int
    t0: float


ClientEvent = (
    SessionHello
    | WorkspaceDidChange
    | DocumentDidOpen
    | DocumentDidChange
    | DocumentDidClose
    | Suggest
    | Cancel
    | SuggestionFeedback
    | ModelFetch
    | ModelStop
    | Quiet
    | UsageWatch
    | Ping
    | ResponseCreate
    | ResponseCancel
)

# -- server to client ---------------------------------------------------------------------------------------------


class Limits(Struct, frozen=True, rename="camel"):
    in_flight: int = 16
    lanes: int = 32
    max_message_bytes: int = 8 * 1024 * 1024
    ttl_seconds: int = 3600


class DocumentState(Struct, frozen=True, rename="camel"):
    uri: str
    version: int
    hash: str


class SessionReady(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:session.ready"):
    session_id: str
    position_encoding: str
    resume_token: str
    resumed: bool = False
    replay_from: int | None = None
    limits: Limits = field(default_factory=Limits)
    documents: list[DocumentState] = field(default_factory=list)
    sequence_number: int = field(name="sequence_number", default=0)


class DocumentDesync(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:document.desync"):
    """The server's copy is not the client's: `have` is its version (None: no such document). Send the whole text."""

    uri: str
    have: int | None
    wanted: int
    reason: Literal["version_gap", "hash", "range", "not_open"]
    action: Literal["resend_full"] = "resend_full"
    sequence_number: int = field(name="sequence_number", default=0)


class SuggestionStarted(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:suggestion.started"):
    """Deltas follow as `response.output_text.delta` with this `item_id` on lane `stream_id`.

    They begin at `position` of `version`, which is `consumed` characters behind the place of the request: what was typed
    there in the meantime.
    """

    request_id: str
    suggestion_id: str
    response_id: str
    item_id: str = field(name="item_id")
    source: Source
    uri: str
    version: int
    position: Position
    consumed: int = 0
    stream_id: str = field(name="stream_id", default="fast")
    sequence_number: int = field(name="sequence_number", default=0)


class SuggestionRebased(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:suggestion.rebased"):
    """The person typed the beginning of it: it goes on, `consumed` characters in."""

    suggestion_id: str
    version: int
    consumed: int
    sequence_number: int = field(name="sequence_number", default=0)


class Timing(Struct, frozen=True, rename="camel"):
    """Milliseconds. The parts up to `handed` follow one another and add up to `ttft`; a model without a part has 0."""

    mirrored_ms: float = 0.0  # suggest read → handled
    waited_ms: float = 0.0  # the typing pause
    queue_ms: float = 0.0  # asked → the engine begins
    prefill_ms: float = 0.0
    ttft_ms: float = 0.0  # suggest read → first words handed to the socket; 0: it had none
    total_ms: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    copied_ms: float = 0.0  # the copy model's whole answer
    first_token_ms: float = 0.0  # prompt read → first token
    first_words_ms: float = 0.0  # first token → first words that can be shown
    handed_ms: float = 0.0
    decode_ms: float = 0.0  # first token → newest token, over all the answer
    read_at_ms: float | None = None  # suggest read, on the clock of `offhook:pong`


Outcome = Literal[
    "finished",
    "empty",
    "unsure",
    "unneeded",
    "stale",
    "superseded",
    "cancelled",
    "deadline",
    "out_of_step",
    "never_sent",
    "no_model",
    "failed",
]


class SuggestionDone(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:suggestion.done"):
    """Always the last word on a source of a request, also where nothing was started (`suggestion_id` None)."""

    request_id: str
    source: Source
    outcome: Outcome
    suggestion_id: str | None = None
    timing: Timing = field(default_factory=Timing)
    sequence_number: int = field(name="sequence_number", default=0)


class Pong(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:pong"):
    """Four times, ms: t0 (client sent), t1 (server read), t2 (server sent); the client adds t3."""

    id: int
    t0: float
    t1: float
    t2: float


class Flow(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:flow"):
    """Bytes of requests a lane will still queue; the client holds back what is over."""

    credits: dict[str, int]
    queue_depth: int
    sequence_number: int = field(name="sequence_number", default=0)


class SessionGoAway(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:session.goAway"):
    time_left_ms: int
    reason: Literal["max_age", "shutdown"]
    sequence_number: int = field(name="sequence_number", default=0)


ModelState = Literal["absent", "downloading", "starting", "ready", "failed"]


class ModelStatus(Struct, frozen=True, rename="camel"):
    """One model of the server's. "asleep": here, and loaded at the first need. `source`: where it comes from, in words."""

    name: str
    role: Literal["fast", "deep"]
    state: ModelState | Literal["asleep"]
    share: float | None = None
    detail: str = ""
    size_bytes: int = 0
    licence: str = ""
    source: str = ""
    folder: str = ""


class ServerStatus(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:status"):
    """What the server can do now; the first fields speak of the fast model. `share` is 0 to 1 of a download; `detail` a sentence with the way to mend it; `notice`
    one that says what is held back and why (little memory, a low battery, quiet)."""

    model: ModelState
    model_name: str
    share: float | None = None
    detail: str = ""
    index_files: int = 0
    index_ready: bool = False
    notice: str = ""
    models: list[ModelStatus] = field(default_factory=list)
    sequence_number: int = field(name="sequence_number", default=0)


class ProcessUsage(Struct, frozen=True, rename="camel"):
    """`name`: the model's, "index" or "server"."""

    name: str
    cpu_s: float
    rss_mb: float


class Usage(Struct, frozen=True, rename="camel", tag_field="type", tag="offhook:usage"):
    """What the server and its workers cost this machine. `cpu_s`: of all since the server started, ended ones too."""

    cpu_s: float
    rss_mb: float
    models: list[ProcessUsage] = field(default_factory=list)


class TextDelta(Struct, frozen=True, tag_field="type", tag="response.output_text.delta"):
    """OpenAI's event, as a suggestion uses it."""

    item_id: str
    delta: str
    sequence_number: int
    stream_id: str = "fast"
    output_index: int = 0
    content_index: int = 0
    logprobs: list[object] = field(default_factory=list)


class ErrorBody(Struct, frozen=True):
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None


class ErrorEvent(Struct, frozen=True, tag_field="type", tag="error"):
    """The nested shape of the WebSocket; over SSE the same fields are flat (research: OpenAI's two shapes)."""

    error: ErrorBody
    status: int = 400
    stream_id: str | None = None
    sequence_number: int = 0


ServerEvent = (
    SessionReady
    | DocumentDesync
    | SuggestionStarted
    | SuggestionRebased
    | SuggestionDone
    | Pong
    | Flow
    | SessionGoAway
    | ServerStatus
    | Usage
    | TextDelta
    | ResponseCreated
    | ResponseCompleted
    | ResponseIncomplete
    | ResponseFailed
    | ErrorEvent
)
