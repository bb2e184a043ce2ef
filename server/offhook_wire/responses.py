"""OpenAI's Responses events as a typed question uses them: what the app says and reads. Not the whole of their shapes.

The words of an answer come as `messages.TextDelta` on the same lane; numbers count within one response.
"""

from typing import Any

from msgspec import Struct


class ResponseCreate(Struct, frozen=True, tag_field="type", tag="response.create"):
    """OpenAI's event, as a typed question uses it."""

    input: str | list[dict[str, Any]]
    model: str = "deep"
    stream_id: str = "deep"
    previous_response_id: str | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    store: bool | None = None


class ResponseCancel(Struct, frozen=True, tag_field="type", tag="response.cancel"):
    """Without a `response_id`: the newest of the lane."""

    response_id: str | None = None
    stream_id: str = "deep"


class ResponseError(Struct, frozen=True):
    code: str
    message: str


class ResponseState(Struct, frozen=True):
    """Of OpenAI's Response object what the app reads."""

    id: str
    status: str
    error: ResponseError | None = None
    usage: dict[str, Any] | None = None


class ResponseCreated(Struct, frozen=True, tag_field="type", tag="response.created"):
    response: ResponseState
    sequence_number: int = 0
    stream_id: str | None = None


class ResponseCompleted(Struct, frozen=True, tag_field="type", tag="response.completed"):
    response: ResponseState
    sequence_number: int = 0
    stream_id: str | None = None


class ResponseIncomplete(Struct, frozen=True, tag_field="type", tag="response.incomplete"):
    """It reached its limit (status "incomplete") or was cancelled (status "cancelled")."""

    response: ResponseState
    sequence_number: int = 0
    stream_id: str | None = None


class ResponseFailed(Struct, frozen=True, tag_field="type", tag="response.failed"):
    response: ResponseState
    sequence_number: int = 0
    stream_id: str | None = None
