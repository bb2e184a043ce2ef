"""The HTTP side as bytes on a socket: error bodies, who may ask, clients that leave."""

import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from offhook_wire.messages import Limits
from support.gateway_server import LIMIT_S, InProcessServer, StartServer

pytestmark = pytest.mark.loopback


@pytest.fixture
async def client(gateway: InProcessServer) -> AsyncIterator[aiohttp.ClientSession]:
    headers = {"Authorization": f"Bearer {gateway.token}"}
    async with aiohttp.ClientSession(f"http://127.0.0.1:{gateway.port}", headers=headers) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "param"),
    [
        ("GET", "/v1/none", "", 404, "unknown_url", None),
        ("PUT", "/v1/responses", "{}", 405, "method_not_allowed", None),
        ("POST", "/v1/responses", "{]", 400, "invalid_json", None),
        ("POST", "/v1/responses", '{"input":[{"type":"computer_call"}]}', 400, "unsupported_value", "input[0].type"),
        ("POST", "/v1/responses", '{"input":"x","model":"gpt-none"}', 404, "model_not_found", "model"),
        ("POST", "/v1/responses", '{"input":"[[bug]]"}', 500, "server_error", None),
        ("POST", "/v1/chat/completions", '{"messages":[]}', 400, "invalid_type", "messages"),
        ("POST", "/v1/chat/completions", "[]", 400, "invalid_type", None),
        ("GET", "/v1/models/none", "", 404, "model_not_found", "model"),
        ("GET", "/v1/responses/resp_none", "", 404, "response_not_found", "response_id"),
        ("DELETE", "/v1/responses/resp_none", "", 404, "response_not_found", "response_id"),
        ("GET", "/v1/responses", "", 400, None, None),
    ],
)
async def test_errors_have_openais_form(
    client: aiohttp.ClientSession, method: str, path: str, body: str, status: int, code: str | None, param: str | None
) -> None:
    async with client.request(method, path, data=body.encode()) as answer:
        error = (await answer.json())["error"]
        assert answer.status == status
    assert set(error) == {"message", "type", "code", "param"}
    assert (error["code"], error["param"]) == (code, param)


async def test_a_body_over_the_limit(start_server: StartServer) -> None:
    server = start_server(Limits(max_message_bytes=1000))
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as client,
        client.post(f"{server.base_url}/responses", json={"input": "x" * 2000}) as answer,
    ):
        assert answer.status == 413
        assert (await answer.json())["error"]["code"] == "message_too_big"


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/models", {}, 401),
        ("/metrics", {}, 401),
        ("/v1/none", {}, 401),
        ("/healthz", {}, 200),
        ("/healthz", {"Host": "localhost:1234"}, 200),
        ("/healthz", {"Host": "[::1]"}, 200),
        ("/healthz", {"Host": "example.com"}, 403),
        ("/healthz", {"Host": "localhost.example.com"}, 403),
        ("/healthz", {"Host": "localhost:port"}, 403),
        ("/healthz", {"Origin": "http://localhost:5173"}, 200),
        ("/healthz", {"Origin": "https://example.com"}, 403),
    ],
)
async def test_who_may_ask(gateway: InProcessServer, path: str, headers: dict[str, str], status: int) -> None:
    async with (
        aiohttp.ClientSession() as client,
        client.get(f"http://127.0.0.1:{gateway.port}{path}", headers=headers) as answer,
    ):
        assert answer.status == status
        assert gateway.token not in await answer.text()
        assert "Access-Control-Allow-Origin" not in answer.headers


async def test_the_figures(client: aiohttp.ClientSession) -> None:
    async with client.post("/v1/responses", json={"input": "hello"}) as answer:
        assert answer.status == 200
    async with client.get("/metrics") as answer:
        figures = await answer.text()
    assert 'offhook_http_requests_total{route="/v1/responses",status="200"}' in figures
    assert 'offhook_responses_total{status="completed",transport="http"}' in figures


async def test_a_mistake_in_a_stream_is_a_flat_error_event(client: aiohttp.ClientSession) -> None:
    async with client.post("/v1/responses", json={"input": "[[say: hm]][[bug]]", "stream": True}) as answer:
        events = (await answer.text()).split("\n\n")
    assert events[-3].startswith("event: error\n")
    assert json.loads(events[-3].split("data: ")[1]) == {
        "type": "error",
        "code": "server_error",
        "message": "The server made a mistake. Its log says more.",
        "param": None,
        "sequence_number": 5,
    }
    assert events[-2:] == ["data: [DONE]", ""]


@pytest.mark.parametrize(
    ("text", "status", "retry"), [("[[fail]]", 500, "false"), ("[[fail: retryable]]", 503, "true")]
)
async def test_a_failing_model_says_whether_to_ask_again(
    client: aiohttp.ClientSession, text: str, status: int, retry: str
) -> None:
    async with client.post("/v1/responses", json={"input": text}) as answer:
        assert (answer.status, answer.headers["x-should-retry"]) == (status, retry)


async def test_a_mistake_in_a_chat_stream(client: aiohttp.ClientSession) -> None:
    messages = [{"role": "user", "content": "[[say: hm]][[bug]]"}]
    async with client.post("/v1/chat/completions", json={"messages": messages, "stream": True}) as answer:
        events = (await answer.text()).split("\n\n")
    assert json.loads(events[-3].removeprefix("data: "))["error"]["code"] == "server_error"


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_leaves_stops_the_model(gateway: InProcessServer, path: str, *, stream: bool) -> None:
    text = "[[say: on]][[hang]]"
    body = {"input": text, "messages": [{"role": "user", "content": text}], "stream": stream}
    headers = {"Authorization": f"Bearer {gateway.token}"}
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=0.5)) as client:
        with pytest.raises(TimeoutError):
            async with client.post(f"http://127.0.0.1:{gateway.port}{path}", json=body) as answer:
                await answer.read()
    gateway.model.stopped.get(timeout=LIMIT_S)
