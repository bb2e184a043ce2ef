"""The official `openai` package against /v1/chat/completions."""

from collections.abc import Iterator

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from support.gateway_server import RunningServer

pytestmark = pytest.mark.loopback

TOOL: ChatCompletionToolParam = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}


@pytest.fixture
def client(server: RunningServer) -> Iterator[OpenAI]:
    with OpenAI(base_url=server.base_url, api_key=server.token, max_retries=0) as client:
        yield client


def _user(text: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": text}]


def test_a_completion(client: OpenAI) -> None:
    completion = client.chat.completions.create(model="fast", messages=_user("[[say: hello there]]"))
    assert completion.choices[0].message.content == "hello there"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage
    assert completion.usage.completion_tokens == 2


def test_a_streamed_completion_with_usage(client: OpenAI) -> None:
    with client.chat.completions.create(
        model="deep", messages=_user("[[say: a b c]]"), stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "a b c"
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens == 3


def test_a_tool_call_there_and_back(client: OpenAI) -> None:
    messages = _user('[[call: read {"path": "a.py"}]]')
    completion = client.chat.completions.create(model="fast", messages=messages, tools=[TOOL])
    (call,) = completion.choices[0].message.tool_calls or []
    assert completion.choices[0].finish_reason == "tool_calls"
    assert call.type == "function"
    assert call.function.arguments == '{"path": "a.py"}'
    messages += [
        {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": call.function.to_dict()}]},  # type: ignore[typeddict-item] # what people write
        {"role": "tool", "tool_call_id": call.id, "content": "print()"},
    ]
    completion = client.chat.completions.create(model="fast", messages=messages, tools=[TOOL])
    assert completion.choices[0].message.content == "The tool said: print()"


def test_a_streamed_tool_call(client: OpenAI) -> None:
    with client.chat.completions.stream(model="fast", messages=_user('[[call: read {"path": 1}]]')) as stream:
        completion = stream.get_final_completion()
    (call,) = completion.choices[0].message.tool_calls or []
    assert call.function.arguments == '{"path": 1}'


def test_a_failing_model_while_streaming(client: OpenAI) -> None:
    with (
        client.chat.completions.create(model="fast", messages=_user("[[say: a]][[fail]]"), stream=True) as stream,
        pytest.raises(openai.APIError),
    ):
        list(stream)


def test_parts_that_are_not_text(client: OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as e:
        client.chat.completions.create(
            model="fast",
            messages=[
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]}
            ],
        )
    assert e.value.param == "messages[0].content[0].type"
