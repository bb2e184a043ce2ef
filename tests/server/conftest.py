"""Servers to speak to. `server` is each kind of server in turn; `gateway` is one whose model a test can look into."""

from collections.abc import Iterator

import pytest

from offhook_server.gateway.services import SessionFactory
from offhook_wire.messages import Limits
from support.gateway_server import InProcessServer, NullServer, RunningServer, StartServer


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Starts gateways; at the end none may have left a task or an unhandled error behind."""
    servers: list[InProcessServer] = []

    def start(limits: Limits | None = None, sessions: SessionFactory | None = None) -> InProcessServer:
        server = InProcessServer(limits or Limits(), sessions)
        servers.append(server)
        server.begin()
        return server

    yield start
    for server in servers:
        server.stop()
        assert server.leftovers == []
        assert server.unhandled == []


@pytest.fixture
def gateway(start_server: StartServer) -> InProcessServer:
    return start_server()


@pytest.fixture(scope="session")
def null_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The whole server in a process of its own, with the null engine."""
    with NullServer(tmp_path_factory.mktemp("null-server")) as server:
        yield server


@pytest.fixture(params=["gateway", "process"])
def server(request: pytest.FixtureRequest) -> RunningServer:
    """Any server that obeys the directives of the null engine."""
    if request.param == "process":
        whole: RunningServer = request.getfixturevalue("null_server")
        return whole
    gateway: InProcessServer = request.getfixturevalue("gateway")
    return RunningServer(gateway.base_url, gateway.token)
