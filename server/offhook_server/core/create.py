"""What a client asks of /v1/responses: the body of POST and of `response.create`, checked. Not what is done with it.

Fields that change nothing here (`include`, `stream_options`, `prompt_cache_options`, …) are taken and ignored.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from offhook_server.core import body
from offhook_server.errors import PeerError

DEFAULT_MODEL = "fast"
DEFAULT_OUTPUT_TOKENS = 1024
Item = dict[str, Any]
ToolChoice = str | dict[str, Any]


class Create(Struct, frozen=True, kw_only=True):
    """The fields that count, under OpenAI's names. `stream_id` and `generate` are the WebSocket's."""

    model: str = DEFAULT_MODEL
    input: str | list[Item] = field(default_factory=list)
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    prompt: Any = None
    background: bool | None = None
    store: bool | None = None
    stream: bool | None = None
    generate: bool | None = None
    stream_id: Any = None
    tools: list[Item] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    text: dict[str, Any] | None = None
    reasoning: dict[str, Any] | None = None
    metadata: Annotated[dict[str, str], Meta(max_length=16)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_tool_calls: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    truncation: Literal["auto", "disabled"] | None = None
    service_tier: str | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None

    @property
    def stored(self) -> bool:
        return self.store is not False

    @property
    def warm_up(self) -> bool:
        """The state is wanted and no output."""
        return self.generate is False


_decoder = msgspec.json.Decoder(Create)


def read_create(raw: bytes | str) -> Create:
    """Raises PeerError for a body that is malformed or wants what is not here."""
    create = body.read(_decoder, raw)
    if create.conversation is not None and create.previous_response_id is not None:
        raise PeerError(
            "Give either 'conversation' or 'previous_response_id', not both.",
            code="mutually_exclusive_parameters",
            param="previous_response_id",
        )
    if create.background:
        raise _unsupported("background", "Responses run while the client is connected.")
    if create.conversation is not None:
        raise _unsupported("conversation", "Continue with 'previous_response_id'.")
    if create.prompt is not None:
        raise _unsupported("prompt", "Send the text itself as 'input'.")
    return create


def _unsupported(param: str, instead: str) -> PeerError:
    return PeerError(f"'{param}' is not supported here. {instead}", code="unsupported_parameter", param=param)
