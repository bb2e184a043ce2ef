"""The official `openai` package against /v1/responses over HTTP and server-sent events."""

import json
from collections.abc import Iterator
from itertools import groupby

import openai
import pytest
from openai import OpenAI
from openai.types.responses import FunctionToolParam, Response, ResponseFunctionToolCall

from support.gateway_server import RunningServer

pytestmark = pytest.mark.loopback

WEATHER: FunctionToolParam = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a town.",
    "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
    "strict": True,
}


@pytest.fixture
def client(server: RunningServer) -> Iterator[OpenAI]:
    with OpenAI(base_url=server.base_url, api_key=server.token, max_retries=0) as client:
        yield client


def test_a_response(client: OpenAI) -> None:
    response = client.responses.create(model="fast", input="[[say: four words of answer]]", instructions="Be brief.")
    assert response.output_text == "four words of answer"
    assert response.status == "completed"
    assert response.usage
    assert response.usage.output_tokens == 4


def test_server_sent_events(client: OpenAI) -> None:
    with client.responses.create(model="fast", input="[[say: one two]]", stream=True) as events:
        seen = list(events)
    assert [kind for kind, _ in groupby(event.type for event in seen)] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert "".join(event.delta for event in seen if event.type == "response.output_text.delta") == "one two"
    assert [getattr(event, "sequence_number", None) for event in seen] == list(range(len(seen)))


def test_the_stream_helper(client: OpenAI) -> None:
    with client.responses.stream(model="fast", input='[[say: look]][[call: weather {"town": "Oslo"}]]') as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        response = stream.get_final_response()
    assert deltas == ["look"]
    assert [item.type for item in response.output] == ["message", "function_call"]


def _call(response: Response) -> ResponseFunctionToolCall:
    (call,) = [item for item in response.output if item.type == "function_call"]
    return call


def test_a_tool_call_and_its_output_by_the_previous_id(client: OpenAI) -> None:
    asked = client.responses.create(model="fast", input='[[call: weather {"town": "Oslo"}]]', tools=[WEATHER])
    call = _call(asked)
    assert (call.name, json.loads(call.arguments)) == ("weather", {"town": "Oslo"})
    answer = client.responses.create(
        model="fast",
        previous_response_id=asked.id,
        tools=[WEATHER],
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sun"}],
    )
    assert answer.output_text == "The tool said: sun"


def test_a_tool_call_and_its_output_with_the_whole_history(client: OpenAI) -> None:
    asked = client.responses.create(model="fast", input="[[call: weather {}]]", tools=[WEATHER], store=False)
    call = _call(asked)
    answer = client.responses.create(
        model="fast",
        store=False,
        input=[
            {"role": "user", "content": "How is the weather?"},
            {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
            {"type": "function_call_output", "call_id": call.call_id, "output": "rain"},
        ],
    )
    assert answer.output_text == "The tool said: rain"


def test_what_is_stored_is_found_until_it_is_deleted(client: OpenAI) -> None:
    response = client.responses.create(model="fast", input="[[say: hello]]")
    assert client.responses.retrieve(response.id).output_text == "hello"
    client.responses.delete(response.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


def test_a_previous_response_that_is_not_known(client: OpenAI) -> None:
    kept_nowhere = client.responses.create(model="fast", input="hello", store=False)
    with pytest.raises(openai.BadRequestError) as e:
        client.responses.create(model="fast", input="and?", previous_response_id=kept_nowhere.id)
    assert e.value.code == "previous_response_not_found"
    assert e.value.param == "previous_response_id"


def test_a_wrong_key(server: RunningServer) -> None:
    with (
        OpenAI(base_url=server.base_url, api_key="sk-other", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as e,
    ):
        client.responses.create(model="fast", input="hello")
    assert e.value.code == "invalid_api_key"


def test_an_unknown_model(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as e:
        client.responses.create(model="gpt-none", input="hello")
    assert e.value.code == "model_not_found"


def test_an_output_that_is_cut_at_its_limit(client: OpenAI) -> None:
    response = client.responses.create(model="fast", input="[[say: one two three]]", max_output_tokens=2)
    assert response.status == "incomplete"
    assert response.incomplete_details
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output_text == "one two"


def test_a_failing_model_while_streaming(client: OpenAI) -> None:
    with client.responses.create(model="fast", input="[[say: begun]][[fail]]", stream=True) as events:
        last = list(events)[-1]
    assert last.type == "response.failed"
    assert last.response.error
    assert last.response.error.code == "server_error"


def test_a_failing_model(client: OpenAI) -> None:
    with pytest.raises(openai.InternalServerError) as e:
        client.responses.create(model="fast", input="[[fail]]")
    assert e.value.code == "server_error"


def test_the_models(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()][:2] == ["fast", "deep"]
    assert client.models.retrieve("deep").id == "deep"
