"""The real server process with the null engine: killed, starved of ports, left alone. Nothing may be left behind."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import psutil
import pytest

from offhook_app.settings import Settings
from offhook_app.transport.server_process import ServerProcess as AppsServer
from offhook_wire.messages import ServerStatus
from support.line_client import LineClient
from support.processes import LIMIT_S, ServerProcess, gone

pytestmark = pytest.mark.loopback

NULL = ("--engine", "null")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    server = await ServerProcess.start(tmp_path / "run", *NULL)
    family = [psutil.Process(server.pid), *server.children()]
    yield server
    await server.end()
    await gone(family)


async def _ready(client: LineClient) -> None:
    """Open, and the engine is up."""
    await client.until(lambda: any(isinstance(e, ServerStatus) and e.model == "ready" for e in client.events))


async def test_it_says_one_line_and_serves(server: ServerProcess) -> None:
    async with aiohttp.ClientSession() as http:
        async with http.get(server.base_url.removesuffix("/v1") + "/healthz") as answer:
            assert (await answer.json())["status"] == "ok"
        async with http.get(server.base_url + "/models") as answer:
            assert answer.status == 401
            assert (await answer.json())["error"]["code"] == "invalid_api_key"
        async with http.get(server.base_url + "/models", headers={"Authorization": f"Bearer {server.token}"}) as answer:
            assert [m["id"] for m in (await answer.json())["data"]][:2] == ["fast", "deep"]


async def test_a_port_that_is_taken_is_said_and_nothing_stays(server: ServerProcess, tmp_path: Path) -> None:
    port = server.base_url.rsplit(":", 1)[1].split("/")[0]
    second = await ServerProcess.start(tmp_path / "other", *NULL, "--port", port)
    assert f"Port {port} is taken" in second.token
    assert await second.process.wait() == 1


async def test_killing_the_server_takes_its_workers_with_it(tmp_path: Path) -> None:
    server = await ServerProcess.start(tmp_path, *NULL)
    async with LineClient(server) as client:
        await _ready(client)
    family = [psutil.Process(server.pid), *server.children()]
    assert len(family) == 3
    server.kill()
    await server.process.wait()
    await gone(family)


WORKERS = {
    "fast": "--engine null --nice 5",
    "deep": "--engine null --nice 10",
    "index": "offhook_server.models.index_worker",
}


@pytest.mark.parametrize("command", WORKERS.values(), ids=WORKERS.keys())
async def test_a_killed_worker_is_replaced_and_the_line_goes_on(server: ServerProcess, command: str) -> None:
    async with LineClient(server) as client:
        client.open("x = ")
        await _ready(client)
        worker = await server.worker(command)
        os.kill(worker.pid, signal.SIGKILL)
        await gone([worker])
        client.events.clear()
        async with asyncio.timeout(LIMIT_S):
            while True:
                client.ask("q_1")
                done = await client.until_done("q_1")
                if done.outcome == "finished":
                    break
                client.events.clear()
                await client.until(lambda: any(isinstance(e, ServerStatus) for e in client.events))


async def test_the_app_starts_a_server_and_two_apps_share_it(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path, NULL, linger_s=0.5)
    one, two = AppsServer(settings), AppsServer(settings)
    first, second = await asyncio.gather(one.endpoint(), two.endpoint())
    assert first == second
    family = _family(tmp_path)
    async with LineClient(one) as client:
        await client.until_kind("open")
    await gone(family)


async def test_a_server_that_dies_is_started_anew_and_the_text_is_there(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path, NULL, linger_s=0.5)
    async with LineClient(AppsServer(settings)) as client:
        client.open("def f(x):\n    ")
        await _ready(client)
        first = _family(tmp_path)
        os.kill(first[0].pid, signal.SIGKILL)
        client.type("y = ")
        await client.until(lambda: len({e.session_id for e in client.events if hasattr(e, "session_id")}) == 2)
        await client.until(lambda: isinstance(client.events[-1], ServerStatus) and client.events[-1].model == "ready")
        client.ask("q_1")
        assert (await client.until_done("q_1")).outcome == "finished"
        second = _family(tmp_path)
    await gone([*first, *second])


async def test_killing_the_app_leaves_nothing(tmp_path: Path) -> None:
    """The line's client in a process of its own, killed in mid-sentence."""
    script = (
        "import asyncio, sys; from pathlib import Path;"
        "from offhook_app.settings import Settings; from offhook_app.transport.server_process import ServerProcess;"
        "from offhook_app.transport.line_driver import LineDriver\n"
        "async def main():\n"
        f"    s = Settings(Path({str(tmp_path)!r}), Path({str(tmp_path)!r}), {NULL!r}, linger_s=0.5)\n"
        "    d = LineDriver(ServerProcess(s), lambda e: None, lambda s: s.kind == 'open' and print('open', flush=True))\n"
        "    await d.start(); await asyncio.Event().wait()\n"
        "asyncio.run(main())"
    )
    app = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert app.stdout is not None
    async with asyncio.timeout(LIMIT_S):
        assert await app.stdout.readline() == b"open\n"
    family = _family(tmp_path)
    app.kill()
    await app.wait()
    await gone(family)


def _family(runtime: Path) -> list[psutil.Process]:
    """The server that is found in `runtime`, and its workers."""
    server = psutil.Process(json.loads((runtime / "server.json").read_text())["pid"])
    return [server, *server.children(recursive=True)]
