"""No text, path or key of a person is in a log, a metric or an error: a marker goes in everywhere and comes out nowhere."""

from pathlib import Path

import aiohttp
import pytest

from offhook_wire.messages import DocumentDidOpen, ServerStatus, WorkspaceDidChange
from offhook_wire.text import text_hash
from support.line_client import LineClient
from support.processes import ServerProcess

pytestmark = pytest.mark.loopback

MARKER = "xyzzymarker"


async def test_the_marker_comes_out_nowhere(tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / MARKER
    folder.mkdir()
    (folder / f"{MARKER}.py").write_text(f"{MARKER} = 1\n")
    server = await ServerProcess.start(tmp_path / "run", "--engine", "null", log=log)

    async with LineClient(server) as client:
        client.uri = (folder / f"{MARKER}.py").as_uri()
        client.open(f"# {MARKER} [[crash]]\nx = ")
        await client.until(lambda: any(isinstance(e, ServerStatus) and e.model == "ready" for e in client.events))
        client.driver.send(WorkspaceDidChange([folder.as_uri()]))
        client.driver.send(DocumentDidOpen("file:///.env", "plaintext", 1, MARKER, text_hash(MARKER)))
        client.ask("q_1")
        assert (await client.until_done("q_1")).outcome in ("failed", "finished")
    headers = {"Authorization": f"Bearer {server.token}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        async with http.post(server.base_url + "/responses", data=f'{{"model": "{MARKER}"') as answer:
            assert answer.status == 400
        async with http.get(f"{server.base_url}/{MARKER}") as answer:
            assert answer.status == 404
        async with http.get(server.base_url.removesuffix("/v1") + "/metrics") as answer:
            assert MARKER not in await answer.text()
    await server.end()
    assert MARKER not in log.read_text()
    assert server.token not in log.read_text()
