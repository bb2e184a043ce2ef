"""The program as one executable that has no `python -m`: it enters itself again for the server and for each worker."""

import asyncio
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from offhook_wire.messages import ServerStatus
from support.line_client import LineClient
from support.processes import LIMIT_S, ServerProcess

pytestmark = pytest.mark.loopback

# what a bundler's bootloader does before the program's first line
FROZEN = """\
#!{python}
import sys
sys.frozen, sys.executable = True, __file__
from offhook_app.cli.__main__ import main
main()
"""


@pytest.fixture
def executable(tmp_path: Path) -> Path:
    path = tmp_path / "offhook"
    path.write_text(FROZEN.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


async def test_server_and_workers_start_from_the_executable_alone(executable: Path, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(str(executable), "serve", "--json", "--engine", "null"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "OFFHOOK_RUNTIME_DIR": str(tmp_path / "run")},
        start_new_session=True,
    )
    assert process.stdout is not None
    async with asyncio.timeout(LIMIT_S):
        said = json.loads(await process.stdout.readline())
    async with ServerProcess(process, said["base_url"], said["token"]) as server, LineClient(server) as client:
        client.open("[[say: a + b]]\nx = ")
        await client.until(lambda: any(isinstance(e, ServerStatus) and e.model == "ready" for e in client.events))
        client.ask("q_1")
        assert (await client.until_done("q_1")).outcome == "finished"
        for module in ("offhook_server.models.worker", "offhook_server.models.index_worker"):
            worker = await server.worker(f"{module} --fd")
            assert str(executable) in worker.cmdline()
            assert "-m" not in worker.cmdline()
