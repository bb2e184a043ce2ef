"""One turn of a model: what is asked of it, and its answer as it comes. Shared by all transports; sends nothing."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

from offhook_server.backends.base import Call, Delta, Finished, Generate, Model, Piece, Progress
from offhook_server.core import conversation, lanes
from offhook_server.core.conversation import History
from offhook_server.core.create import DEFAULT_OUTPUT_TOKENS, Create
from offhook_server.core.response_store import ResponseStore, Stored
from offhook_server.core.responses import Counted, Reason, Response
from offhook_server.errors import BackendError, PeerError
from offhook_server.gateway.services import Services

Event = dict[str, Any]


class Answer(Protocol):
    """Pieces in, events out: a Response or a chat Completion."""

    def text(self, text: str) -> list[Event]: ...
    def call(self, index: int, call_id: str, name: str, arguments: str) -> list[Event]: ...
    def finish(self, reason: Reason, counted: Counted, now: int) -> list[Event]: ...


def wall_s() -> int:
    """Seconds since 1970, for what clients show."""
    return int(datetime.now(UTC).timestamp())


def new_id(prefix: str) -> str:
    return f"{prefix}_{uuid4().hex}"


def backend_fault(error: BackendError) -> PeerError:
    """How the client is told."""
    return PeerError(str(error), code="server_error", status=503 if error.retryable else 500)


def mistake() -> PeerError:
    """How the client is told of a bug."""
    return PeerError("The server made a mistake. Its log says more.", code="server_error", status=500)


async def answered(model: Model, request: Generate, answer: Answer) -> AsyncGenerator[Event]:
    """The events of one answer. Close it to stop the engine. Raises BackendError."""
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            for event in _events(answer, piece):
                yield event
            if isinstance(piece, Finished):
                return
    raise BackendError("The model stopped without an end. Ask again.", retryable=True)


def _events(answer: Answer, piece: Piece | Finished) -> list[Event]:
    match piece:
        case Progress():
            return []
        case Delta():
            return answer.text(piece.text)
        case Call():
            return answer.call(piece.index, piece.call_id, piece.name, piece.arguments)
        case Finished():
            counted = Counted(piece.prompt_tokens, piece.cached_tokens, piece.output_tokens)
            return answer.finish(piece.reason, counted, wall_s())


@dataclass(frozen=True, slots=True)
class Turn:
    """A response that is about to run, and what was said before it, its input included."""

    create: Create
    model: Model
    request: Generate
    response: Response
    history: History

    async def events(self) -> AsyncGenerator[Event]:
        """All but the first two. Raises BackendError."""
        if not self.request.messages:  # a warm-up with nothing to warm
            for event in self.response.finish("stop", Counted(), wall_s()):
                yield event
            return
        async with aclosing(answered(self.model, self.request, self.response)) as events:
            async for event in events:
                yield event

    def keep(self, store: ResponseStore) -> History | None:
        """What a continuation starts from; stored too, where the client wants it. None after a failure.

        To be called once, at the end, before the client can know of it.
        """
        if self.response.status == "failed":
            return None
        history = self.history.extended(self.response.kept_items)
        if self.create.stored:
            store.put(Stored(self.response.resource(), history))
        return history


def begin(services: Services, store: ResponseStore, create: Create, response: Response, parent: History | None) -> Turn:
    """`parent`: the history the connection itself remembers. Raises PeerError."""
    model = services.model(create.model)
    history = (parent or _stored(store, create)).extended(conversation.read_input(create.input))
    if history.size_bytes > services.limits.max_message_bytes:
        raise PeerError(
            "The conversation has grown too long. Begin a new one.", code="context_length_exceeded", param="input"
        )
    messages = conversation.messages(create.instructions, history.items)
    if not messages and not create.warm_up:
        raise PeerError(
            "There is nothing to answer: give an 'input'.", code="missing_required_parameter", param="input"
        )
    request = Generate(
        id=0,  # the model numbers its own requests
        messages=messages,
        tools=conversation.chat_tools(create.tools),
        tool_choice=conversation.chat_tool_choice(create.tool_choice),
        max_tokens=1 if create.warm_up else create.max_output_tokens or DEFAULT_OUTPUT_TOKENS,
        temperature=create.temperature,
        top_p=create.top_p,
        response_format=conversation.response_format(create.text),
    )
    return Turn(create, model, request, response, history)


def _stored(store: ResponseStore, create: Create) -> History:
    if create.previous_response_id is None:
        return History()
    stored = store.get(create.previous_response_id)
    if stored is None:
        raise lanes.not_found(create.previous_response_id)
    return stored.history
