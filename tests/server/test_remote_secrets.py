"""What leaves for another place: the document that is edited and what resembles it, never a file that holds secrets."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from offhook_server.backends.remote import RemoteModel
from offhook_server.lanes.workspace import Workspace
from offhook_server.models.index_client import IndexClient
from offhook_server.settings import Place
from offhook_wire.messages import WorkspaceDidChange
from support.code_server import CodeServer
from support.fake_place import DONE, FakePlace, streams, text
from support.line_client import LIMIT_S, LineClient

pytestmark = pytest.mark.loopback

TYPED = "def connect():\n    value = compute(alpha, beta, "
LIKE_IT = "value = compute(alpha, beta, {})\n"  # in two ways, so that the copy model alone is not sure


@asynccontextmanager
async def editing(folder: Path, place: FakePlace) -> AsyncIterator[LineClient]:
    """The app's line to a gateway whose fast model is at `place`, with `folder` open and read."""
    ready = asyncio.Event()
    index = await IndexClient.start(None, lambda status: ready.set() if status.ready and status.files else None)
    remote = RemoteModel(Place(place.url, model="m", fim="suffix"))
    server = CodeServer(None)
    server.parts = replace(server.parts, workspace=Workspace(index), small_model=lambda: remote)
    async with server, LineClient(server) as client:
        client.driver.send(WorkspaceDidChange([folder.as_uri()]))
        async with asyncio.timeout(LIMIT_S):
            await ready.wait()
        yield client
    await remote.close()
    await index.close()


async def test_no_place_ever_gets_a_secret(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text(LIKE_IT.format("SOMETHING") + LIKE_IT.format("ANYTHING"))
    for secret in (".env", ".ssh/config.py", "server.key"):
        path = tmp_path / secret
        path.parent.mkdir(exist_ok=True)
        path.write_text(TYPED + "SECRET)\n")  # the best neighbour there is
    routes = {"/v1/completions": streams(text("gamma)", "stop"), DONE)}
    async with FakePlace(routes) as place, editing(tmp_path, place) as client:
        for number, secret in enumerate((".env", ".ssh/config.py")):
            client.uri = (tmp_path / secret).as_uri()
            client.open(TYPED + "SECRET")
            client.ask(f"secret {number}")
            assert (await client.until_done(f"secret {number}")).outcome == "never_sent"
        assert place.bodies == []

        client.uri = (tmp_path / "this.py").as_uri()
        client.open(TYPED)
        async with asyncio.timeout(LIMIT_S):
            asks = 0
            while "SOMETHING" not in json.dumps(place.bodies):  # the neighbour came too late for the first asks
                asks += 1
                client.ask(f"plain {asks}")
                await client.until_done(f"plain {asks}")
        assert "def connect" in json.dumps(place.bodies)
        assert "SECRET" not in json.dumps(place.bodies)
        assert client.ghost
