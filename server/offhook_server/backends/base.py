"""What a back end is: an engine that runs inside a worker process, and the frames spoken with that process.

    server                                   worker (models/worker.py)
    Generate ───────────────────────────────▶ Engine.generate(…, emit)
             ◀── Progress* · Delta* · Call* ──   emit(…) returns True to stop
             ◀────────── Finished | Failed ───
    Cancel ─────────────────────────────────▶ the emit of that id returns True from now on

The engine calls `emit` between two batches of the prompt and between two tokens, so a cancel waits for one at most.
"""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Protocol

from msgspec import Struct, field, structs

from offhook_server.core.fim import Infill, Template


class Generate(Struct, frozen=True, tag=True):
    """One request: `prompt` (raw text, special tokens allowed), `messages` (chat) or `infill`, which the place renders
    as its model wants it. The text that answers an infill begins with the infill's `lead`, and the place adds the
    model's own marks to `stop`.

    `slot` names the engine's cache place: 0 and 2 keep the keystrokes' prefixes warm (core.slots), 1 is for everything else.
    """

    id: int
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    infill: Infill | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    max_tokens: int = 256
    temperature: float | None = None
    top_p: float | None = None
    stop: list[str] = field(default_factory=list)
    slot: int = 1
    response_format: dict[str, Any] | None = None
    grammar: str | None = None  # GBNF, not of chat; an engine without grammars may leave it out of account

    def as_prompt(self, template: Template) -> "Generate":
        """The same with its infill, if it has one, in the raw words of one family of models."""
        if self.infill is None:
            return self
        stop = list(dict.fromkeys([*template.marks, *self.stop]))
        return structs.replace(self, prompt=template.keystroke(self.infill), infill=None, stop=stop)


class Cancel(Struct, frozen=True, tag=True):
    id: int


class Hello(Struct, frozen=True, tag=True):
    """Asks a worker whether it is alive; answered by Ready, also while it generates."""


ToWorker = Generate | Cancel | Hello


class Ready(Struct, frozen=True, tag=True):
    """The engine is loaded. Sent once after start, and for every Hello."""

    engine: str
    model: str
    slots: int
    load_ms: float = 0.0


class Progress(Struct, frozen=True, tag=True):
    """Prompt tokens: evaluated or cached so far, in all, and how many of them came from the cache."""

    id: int
    done: int
    total: int
    cached: int


class Delta(Struct, frozen=True, tag=True):
    id: int
    text: str


class Call(Struct, frozen=True, tag=True):
    """A piece of a tool call: `name` and `call_id` come with the first piece of `index`, later ones have them empty."""

    id: int
    index: int
    call_id: str
    name: str
    arguments: str


class Finished(Struct, frozen=True, tag=True):
    id: int
    reason: Literal["stop", "length", "cancelled", "tool_calls"]
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    prefill_ms: float = 0.0
    decode_ms: float = 0.0


class Failed(Struct, frozen=True, tag=True):
    """`id` None: the engine itself failed (load, out of memory) and the worker is about to end."""

    id: int | None
    message: str
    retryable: bool = False


FromWorker = Ready | Progress | Delta | Call | Finished | Failed
Piece = Progress | Delta | Call


class Emit(Protocol):
    """The way back to the server, one per request."""

    def __call__(self, piece: Piece) -> bool:
        """Sends a piece. True when the request was cancelled."""
        ...

    def wait(self, seconds: float | None) -> bool:
        """Waits so long (None: without a limit) or until the request is cancelled, which is True."""
        ...


class Engine(Protocol):
    """Runs in the worker's process, each `generate` on a thread of its own (at most `slots` at once)."""

    name: str
    model: str
    slots: int

    def generate(self, request: Generate, emit: Emit) -> Finished:
        """Blocks until done. `emit` returns True when the request was cancelled: stop and report `cancelled`.

        Raises BackendError.
        """
        ...


class Model(Protocol):
    """What the lanes see in the server's process: a worker with an engine in it."""

    name: str

    def stream(self, request: Generate) -> AsyncGenerator[Piece | Finished]:
        """Pieces as they come, Finished last. Closing the iterator (or cancelling the task that reads it) sends Cancel
        at once and does not wait for the engine.

        Raises BackendError: retryable when the worker died (a new one is on its way).
        """
        ...
