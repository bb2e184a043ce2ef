"""Every message on the wire looks as its golden file says. To change the wire on purpose: run this file as a script.

python tests/wire/test_messages.py    rewrites tests/wire/golden
"""

from pathlib import Path

import msgspec
import pytest

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
    ErrorBody,
    ErrorEvent,
    FeedbackItem,
    Flow,
    Limits,
    ModelFetch,
    ModelStatus,
    ModelStop,
    Ping,
    Pong,
    Position,
    ProcessUsage,
    Quiet,
    Range,
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
    Timing,
    Usage,
    UsageWatch,
    WorkspaceDidChange,
)
from offhook_wire.responses import (
    ResponseCancel,
    ResponseCompleted,
    ResponseCreate,
    ResponseCreated,
    ResponseError,
    ResponseFailed,
    ResponseIncomplete,
    ResponseState,
)

pytestmark = pytest.mark.pure

GOLDEN = Path(__file__).parent / "golden"
URI = "file:///w/a.py"
WORD = Range(Position(12, 4), Position(12, 9))

DEEP = ModelStatus(
    "qwen2.5-coder-1.5b", "deep", "absent", None, "Not here.", 1_117_320_768, "Apache-2.0", "its maker", "/m"
)

CLIENT: list[ClientEvent] = [
    SessionHello("offhook/0.1.0", Capabilities(["utf-16"]), ["file:///w"], Resume("rt_7f", 4182, {"msg_1": 11}), "c1"),
    WorkspaceDidChange(["file:///other"], "c9"),
    DocumentDidOpen(URI, "python", 1, "s = '\U0001f642'\n", "b2:11aa", "c2"),
    DocumentDidChange(URI, 16, 17, [Change(WORD, "foo")], "b2:9f2c", "c3"),
    DocumentDidClose(URI, "c4"),
    Suggest("q_7", URI, 17, Position(12, 7), "invoked", 0, 250, "q_6", "deep", "c5"),
    Cancel("q_7", "c6"),
    SuggestionFeedback([FeedbackItem("sg_7", "accepted", 31, True, 118.5)], "c7"),
    ModelFetch("qwen2.5-coder-0.5b", "c8"),
    ModelStop("qwen2.5-coder-0.5b", "c12"),
    Quiet(True, "c10"),
    UsageWatch(True, "c11"),
    Ping(9, 1000.5),
    ResponseCreate("Why?", "deep", "deep", "resp_1", "Answer briefly.", 768, False),
    ResponseCancel("resp_2"),
]
SERVER: list[ServerEvent] = [
    SessionReady("s_1", "utf-16", "rt_80", True, 4183, Limits(), [DocumentState(URI, 17, "b2:9f2c")], 4183),
    DocumentDesync(URI, 15, 16, "version_gap", sequence_number=9),
    SuggestionStarted("q_7", "sg_7", "resp_1", "msg_1", "small", URI, 17, Position(12, 7), sequence_number=20),
    SuggestionRebased("sg_7", 18, 3, 21),
    SuggestionDone(
        "q_7",
        "small",
        "finished",
        "sg_7",
        Timing(0.4, 180.0, 1.0, 30.0, 215.0, 290.0, 300, 280, 9, 0.0, 2.0, 1.1, 0.5, 75.0, 7.25),
        22,
    ),
    Pong(9, 1000.5, 7.25, 7.5),
    Flow({"fast": 65536}, 2, 23),
    SessionGoAway(60000, "max_age", 24),
    ServerStatus("downloading", "qwen2.5-coder-0.5b", 0.43, "Fetching.", 120, True, "Quiet.", [DEEP], 25),
    Usage(41.5, 812.0, [ProcessUsage("qwen2.5-coder-0.5b", 40.25, 690.5)]),
    TextDelta("msg_1", "def ", 0),
    ResponseCreated(ResponseState("resp_2", "in_progress"), 0, "deep"),
    ResponseCompleted(ResponseState("resp_2", "completed", usage={"input_tokens": 7}), 9, "deep"),
    ResponseIncomplete(ResponseState("resp_2", "cancelled"), 9, "deep"),
    ResponseFailed(ResponseState("resp_2", "failed", ResponseError("server_error", "Ask again.")), 9, "deep"),
    ErrorEvent(ErrorBody("The position is not in the document.", code="invalid_position", param="position")),
]


def golden(message: msgspec.Struct) -> Path:
    return GOLDEN / (str(message.__struct_config__.tag).replace(":", ".") + ".json")


def pretty(message: msgspec.Struct) -> str:
    return msgspec.json.format(codec.encode(message)).decode() + "\n"


@pytest.mark.parametrize("message", [*CLIENT, *SERVER], ids=lambda m: m.__struct_config__.tag)
def test_a_message_is_written_as_its_golden_file_says(message: msgspec.Struct) -> None:
    assert pretty(message) == golden(message).read_text("utf-8")


@pytest.mark.parametrize("message", CLIENT, ids=lambda m: m.__struct_config__.tag)
def test_the_server_reads_what_a_client_writes(message: ClientEvent) -> None:
    assert codec.decode_client(golden(message).read_bytes()) == message


@pytest.mark.parametrize("message", SERVER, ids=lambda m: m.__struct_config__.tag)
def test_the_client_reads_what_the_server_writes(message: ServerEvent) -> None:
    assert codec.decode_server(golden(message).read_bytes()) == message


def test_every_message_has_a_golden_file_and_every_file_a_message() -> None:
    assert {type(m) for m in CLIENT} == set(ClientEvent.__args__)
    assert {type(m) for m in SERVER} == set(ServerEvent.__args__)
    assert {golden(m) for m in [*CLIENT, *SERVER]} == set(GOLDEN.glob("*"))


if __name__ == "__main__":
    for message in [*CLIENT, *SERVER]:
        golden(message).write_text(pretty(message), "utf-8")
