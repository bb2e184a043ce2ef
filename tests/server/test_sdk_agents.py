"""The official `openai-agents` package over the WebSocket, with a tool it runs itself."""

import pytest
from agents import Agent, function_tool, responses_websocket_session, set_tracing_disabled

from support.gateway_server import RunningServer

pytestmark = pytest.mark.loopback


@function_tool
def read_file(path: str) -> str:
    """Reads a file."""
    return f"contents of {path}"


@pytest.fixture(autouse=True)
def _no_traces() -> None:
    set_tracing_disabled(disabled=True)


async def test_an_agent_calls_its_tool_and_goes_on(server: RunningServer) -> None:
    agent = Agent(name="reader", instructions="Read files.", model="fast", tools=[read_file])
    async with responses_websocket_session(api_key=server.token, base_url=server.base_url) as session:
        first = await session.run(agent, '[[call: read_file {"path": "a.py"}]]')
        assert first.final_output == "The tool said: contents of a.py"
        streamed = session.run_streamed(agent, '[[call: read_file {"path": "b.py"}]]')
        kinds = [event.type async for event in streamed.stream_events()]
    assert "raw_response_event" in kinds
    assert streamed.final_output == "The tool said: contents of b.py"
