"""Chat completions: the request checked, the chunks, the whole."""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from offhook_server.core import chat
from offhook_server.core.chat import Chat, Completion
from offhook_server.core.responses import Counted
from offhook_server.errors import PeerError

pytestmark = pytest.mark.pure

USER = {"role": "user", "content": "hello"}


def _chat(**fields: Any) -> Chat:
    return chat.read_chat(json.dumps({"messages": [USER], **fields}).encode())


def test_messages_in_the_engines_form() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    asked = _chat(
        messages=[
            {"role": "developer", "content": [{"type": "text", "text": "Rules."}]},
            USER,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "text"},
        ]
    )
    assert chat.messages(asked) == [
        {"role": "system", "content": "Rules."},
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
    ]


def test_tools_in_the_engines_form() -> None:
    tool = {"type": "function", "function": {"name": "read", "description": None, "parameters": {}}}
    assert chat.tools(_chat(tools=[tool])) == [tool]
    assert chat.tools(_chat(tools=[])) is chat.tools(_chat()) is None


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [{"role": "narrator"}]}, "messages[0].role"),
        ({"n": 2}, "n"),
        ({"tools": [{"type": "custom"}]}, "tools[0].type"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(PeerError) as e:
        _chat(**fields)
    assert e.value.param == param


def test_an_image_is_refused_at_its_place() -> None:
    with pytest.raises(PeerError) as e:
        chat.messages(_chat(messages=[{"role": "user", "content": [{"type": "image_url"}]}]))
    assert e.value.param == "messages[0].content[0].type"


def test_a_text() -> None:
    completion = Completion(_chat(), "chatcmpl_1", 1)
    chunks = [completion.started(), *completion.text("a"), *completion.text("b")]
    chunks += completion.finish("length", Counted(3, 1, 2), 9)
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk)
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks] == ["", "a", "b", None]
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    whole = ChatCompletion.model_validate(completion.whole())
    assert whole.choices[0].message.content == "ab"
    assert whole.usage
    assert whole.usage.total_tokens == 5


def test_calls() -> None:
    completion = Completion(_chat(), "chatcmpl_1", 1)
    chunks = completion.call(0, "c1", "read", '{"a"') + completion.call(0, "", "", ":1}")
    chunks += completion.call(1, "c2", "list", "{}") + completion.finish("stop", Counted(), 9)
    (first,), (second,) = (chunk["choices"][0]["delta"]["tool_calls"] for chunk in chunks[:2])
    assert first == {
        "index": 0,
        "id": "c1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"a"'},
    }
    assert second == {"index": 0, "function": {"arguments": ":1}"}}
    choice = completion.whole()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert [call["function"]["arguments"] for call in choice["message"]["tool_calls"]] == ['{"a":1}', "{}"]


def test_usage_is_a_chunk_of_its_own_where_it_is_wanted() -> None:
    completion = Completion(_chat(stream_options={"include_usage": True}), "chatcmpl_1", 1)
    last, usage = completion.finish("stop", Counted(3, 1, 2), 9)
    assert last["choices"][0]["finish_reason"] == "stop"
    assert (usage["choices"], usage["usage"]["completion_tokens"]) == ([], 2)
    completion = Completion(_chat(stream_options={}), "chatcmpl_1", 1)
    assert len(completion.finish("stop", Counted(), 9)) == 1
