"""Items become chat messages; what cannot be taken is refused at its place."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook_server.core import conversation
from offhook_server.core.conversation import History
from offhook_server.errors import PeerError

pytestmark = pytest.mark.pure

_WORDS = st.sampled_from(
    [
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "user",
        "input_text",
        "function",
        "json_schema",
        "x",
    ]
)
_KEYS = st.sampled_from(
    ["type", "role", "content", "text", "call_id", "name", "arguments", "output", "format", "parameters", "description"]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)
_OBJECT = st.dictionaries(_KEYS, _JSON, max_size=5)

CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def test_a_string_is_a_user_message() -> None:
    (item,) = conversation.read_input("hello")
    assert item["content"] == [{"type": "input_text", "text": "hello"}]
    assert conversation.messages("Be brief.", [item]) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hello"},
    ]


def test_all_kinds_of_items() -> None:
    items = conversation.read_input(
        [
            {"role": "developer", "content": "Rules."},
            {"role": "user", "content": [{"type": "input_text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            CALL,
            {**CALL, "call_id": "c2"},
            {"type": "function_call_output", "call_id": "c1", "output": "text"},
            {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "more"}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "user", "content": "Why?"},
            {**CALL, "call_id": "c3"},
        ]
    )
    assert conversation.messages(None, items) == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "one\ntwo"},
        {"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL, {**CHAT_CALL, "id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
        {"role": "tool", "tool_call_id": "c2", "content": "more"},
        {"role": "assistant", "content": "No."},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "", "tool_calls": [{**CHAT_CALL, "id": "c3"}]},
    ]


@pytest.mark.parametrize(
    ("item", "code", "param"),
    [
        ({"type": "item_reference", "id": "x"}, "unsupported_value", "input[1].type"),
        ({"role": "narrator", "content": "x"}, "invalid_value", "input[1].role"),
        ({"role": 7, "content": "x"}, "invalid_type", "input[1].role"),
        ({"content": "x"}, "missing_required_parameter", "input[1].role"),
        ({"role": "user"}, "invalid_type", "input[1].content"),
        ({"role": "user", "content": ["x"]}, "invalid_type", "input[1].content[0]"),
        (
            {"role": "user", "content": [{"type": "input_text"}]},
            "missing_required_parameter",
            "input[1].content[0].text",
        ),
        ({"role": "user", "content": [{"type": "input_image"}]}, "unsupported_value", "input[1].content[0].type"),
        ({"role": "user", "content": [{"type": "input_audio"}]}, "unsupported_value", "input[1].content[0].type"),
        ({**CALL, "name": None}, "invalid_type", "input[1].name"),
        ({"type": "function_call_output", "call_id": "c1"}, "invalid_type", "input[1].output"),
    ],
)
def test_an_item_that_cannot_be_taken(item: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(PeerError) as e:
        conversation.read_input([{"role": "user", "content": "fine"}, item])
    assert (e.value.code, e.value.param) == (code, param)


def test_the_output_of_a_call_that_nobody_made() -> None:
    with pytest.raises(PeerError, match="call_id c9"):
        conversation.messages(None, [CALL, {"type": "function_call_output", "call_id": "c9", "output": "x"}])


def test_a_history_grows_and_is_measured() -> None:
    first = History().extended(({"a": 1},))
    second = first.extended(({"b": 2}, {"c": 3}))
    assert first.items == ({"a": 1},)
    assert second.items == ({"a": 1}, {"b": 2}, {"c": 3})
    assert second.size_bytes == first.size_bytes + len('[{"b":2},{"c":3}]')


def test_tools() -> None:
    tool = {
        "type": "function",
        "name": "read",
        "description": "Reads.",
        "parameters": {"type": "object"},
        "strict": True,
    }
    assert conversation.chat_tools([tool, {"type": "function", "name": "list"}]) == [
        {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "list", "parameters": {}}},
    ]
    assert conversation.chat_tools(None) is conversation.chat_tools([]) is None


@pytest.mark.parametrize(
    ("tool", "param"), [({"type": "web_search"}, "tools[0].type"), ({"type": "function"}, "tools[0].name")]
)
def test_tools_that_are_not_here(tool: dict[str, Any], param: str) -> None:
    with pytest.raises(PeerError) as e:
        conversation.chat_tools([tool])
    assert e.value.param == param


def test_the_choice_of_a_tool() -> None:
    for choice in (None, "auto", "none", "required"):
        assert conversation.chat_tool_choice(choice) == choice
    named = {"type": "function", "name": "read"}
    assert conversation.chat_tool_choice(named) == {"type": "function", "function": {"name": "read"}}
    for unknown in ("always", {"type": "allowed_tools"}):
        with pytest.raises(PeerError):
            conversation.chat_tool_choice(unknown)


def test_the_format_of_a_text() -> None:
    assert conversation.response_format(None) is None
    assert conversation.response_format({"verbosity": "low"}) is None
    assert conversation.response_format({"format": {"type": "text"}}) is None
    assert conversation.response_format({"format": {"type": "json_object"}}) == {"type": "json_object"}
    schema = {"name": "town", "schema": {"type": "object"}, "strict": True}
    assert conversation.response_format({"format": {"type": "json_schema", **schema}}) == {
        "type": "json_schema",
        "json_schema": schema,
    }
    for unknown in ({"format": "text"}, {"format": {"type": "xml"}}):
        with pytest.raises(PeerError):
            conversation.response_format(unknown)


@given(st.lists(_OBJECT, max_size=3), st.lists(_OBJECT, max_size=2), _OBJECT)
def test_whatever_comes_is_taken_or_refused_in_words(
    items: list[dict[str, Any]], tools: list[dict[str, Any]], text: dict[str, Any]
) -> None:
    for take in (
        lambda: conversation.messages(None, conversation.read_input(items)),
        lambda: conversation.chat_tools(tools),
        lambda: conversation.chat_tool_choice(text),
        lambda: conversation.response_format(text),
    ):
        with suppress(PeerError):
            take()
