"""What was said so far, as a chat model takes it: Responses items in, messages and tools out. Not how it is kept.

    message              → system | user | assistant message
    function_call        → tool call of the assistant message before it, or of one of its own
    function_call_output → tool message
    reasoning            → nothing (clients send it back; a local model does not take it)

An item is checked when it comes in (`read_input`), so that an error names its place there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from offhook_server.core.create import Item, ToolChoice
from offhook_server.errors import PeerError

Message = dict[str, Any]

_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_TEXT_PARTS = ("input_text", "output_text", "text")


@dataclass(frozen=True, slots=True)
class History:
    """All items of a chain of responses, oldest first; `size_bytes` as JSON."""

    items: tuple[Item, ...] = ()
    size_bytes: int = 0

    def extended(self, items: tuple[Item, ...]) -> "History":
        return History(self.items + items, self.size_bytes + len(msgspec.json.encode(items)))


def read_input(value: str | list[Item]) -> tuple[Item, ...]:
    """The input of one request as items. Raises PeerError with the place of the one that cannot be taken."""
    if isinstance(value, str):
        return ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": value}]},)
    for index, item in enumerate(value):
        _message(item, f"input[{index}]")
    return tuple(value)


def messages(instructions: str | None, items: Iterable[Item]) -> list[Message]:
    """Raises PeerError for the output of a call that nobody made."""
    chat: list[Message] = [{"role": "system", "content": instructions}] if instructions else []
    called: set[str] = set()
    for item in items:
        message = _message(item, "input")
        if message is None:
            continue
        calls = message.get("tool_calls", [])
        called.update(call["id"] for call in calls)
        if message["role"] == "tool" and message["tool_call_id"] not in called:
            raise PeerError(
                f"No tool call found for function call output with call_id {message['tool_call_id']}.", param="input"
            )
        if calls and chat and chat[-1]["role"] == "assistant":
            chat[-1] = {**chat[-1], "tool_calls": [*chat[-1].get("tool_calls", []), *calls]}
        else:
            chat.append(message)
    return chat


def _message(item: Item, param: str) -> Message | None:
    match item.get("type", "message"):
        case "message":
            return {"role": _role(item, param), "content": text_of(item.get("content"), f"{param}.content")}
        case "function_call":
            function = {"name": _string(item, "name", param), "arguments": _string(item, "arguments", param)}
            call = {"id": _string(item, "call_id", param), "type": "function", "function": function}
            return {"role": "assistant", "content": "", "tool_calls": [call]}
        case "function_call_output":
            said = text_of(item.get("output"), f"{param}.output")
            return {"role": "tool", "tool_call_id": _string(item, "call_id", param), "content": said}
        case "reasoning":
            return None
        case _:
            raise PeerError(
                "This item type is not supported here; send messages, function calls and their outputs.",
                code="unsupported_value",
                param=f"{param}.type",
            )


def _role(item: Item, param: str) -> str:
    role = _ROLES.get(_string(item, "role", param))
    if role is None:
        raise PeerError(f"The role is one of {', '.join(_ROLES)}.", code="invalid_value", param=f"{param}.role")
    return role


def _string(item: Item, key: str, param: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        code = "invalid_type" if key in item else "missing_required_parameter"
        raise PeerError(f"'{key}' must be a string.", code=code, param=f"{param}.{key}")
    return value


def text_of(content: Any, param: str) -> str:
    """The text of a string or of a list of text parts. Raises PeerError for anything else, images and sound too."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise PeerError("Expected a string or a list of parts.", code="invalid_type", param=param)
    texts = []
    for index, part in enumerate(content):
        place = f"{param}[{index}]"
        if not isinstance(part, dict):
            raise PeerError("Expected a part with a 'type'.", code="invalid_type", param=place)
        if part.get("type") == "refusal":
            texts.append(_string(part, "refusal", place))
        elif part.get("type") in _TEXT_PARTS:
            texts.append(_string(part, "text", place))
        else:
            raise PeerError(
                "Only text is supported here; leave out images, files and audio.",
                code="unsupported_value",
                param=f"{place}.type",
            )
    return "\n".join(texts)


def chat_tools(tools: list[Item] | None) -> list[dict[str, Any]] | None:
    """Function tools in the chat form. Raises PeerError for the tools that only run in the cloud."""
    if not tools:
        return None
    chat = []
    for index, tool in enumerate(tools):
        if tool.get("type") != "function":
            raise PeerError(
                "Only tools of type 'function' are supported here.",
                code="unsupported_value",
                param=f"tools[{index}].type",
            )
        function = {"name": _string(tool, "name", f"tools[{index}]"), "parameters": tool.get("parameters") or {}}
        if tool.get("description"):
            function["description"] = tool["description"]
        chat.append({"type": "function", "function": function})
    return chat


def chat_tool_choice(choice: ToolChoice | None) -> ToolChoice | None:
    if choice is None or choice in ("auto", "none", "required"):
        return choice
    if isinstance(choice, dict) and choice.get("type") == "function":
        return {"type": "function", "function": {"name": _string(choice, "name", "tool_choice")}}
    raise PeerError(
        "The tool choice is 'auto', 'none', 'required' or one function.", code="unsupported_value", param="tool_choice"
    )


def response_format(text: dict[str, Any] | None) -> dict[str, Any] | None:
    """`text.format` in the chat form."""
    wanted = (text or {}).get("format")
    if wanted is None:
        return None
    if not isinstance(wanted, dict):
        raise PeerError("Expected an object with a 'type'.", code="invalid_type", param="text.format")
    match wanted.get("type"):
        case "text":
            return None
        case "json_object":
            return {"type": "json_object"}
        case "json_schema":
            return {"type": "json_schema", "json_schema": {k: v for k, v in wanted.items() if k != "type"}}
        case _:
            raise PeerError(
                "The format is 'text', 'json_object' or 'json_schema'.", code="invalid_value", param="text.format.type"
            )
