"""The events with which the server answers a typed question, as the app reads them."""

from itertools import count

from offhook_app.state.conversation import LANE
from offhook_wire.messages import TextDelta
from offhook_wire.responses import (
    ResponseCompleted,
    ResponseCreated,
    ResponseError,
    ResponseFailed,
    ResponseIncomplete,
    ResponseState,
)

_numbers = count()


def created(response_id: str, lane: str = LANE) -> ResponseCreated:
    return ResponseCreated(ResponseState(response_id, "in_progress"), stream_id=lane, sequence_number=next(_numbers))


def delta(text: str, lane: str = LANE) -> TextDelta:
    return TextDelta("msg_0", text, next(_numbers), stream_id=lane)


def completed(response_id: str) -> ResponseCompleted:
    return ResponseCompleted(ResponseState(response_id, "completed"), stream_id=LANE, sequence_number=next(_numbers))


def incomplete(response_id: str, status: str) -> ResponseIncomplete:
    return ResponseIncomplete(ResponseState(response_id, status), stream_id=LANE, sequence_number=next(_numbers))


def failed(response_id: str, message: str) -> ResponseFailed:
    error = ResponseError("server_error", message) if message else None
    state = ResponseState(response_id, "failed", error=error)
    return ResponseFailed(state, stream_id=LANE, sequence_number=next(_numbers))
