"""The real model at the far end of the real line: what a person gets in a terminal and what the session sees."""

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from offhook_wire.messages import ServerStatus
from support.line_client import LineClient
from support.processes import LIMIT_S, ServerProcess, gone

pytestmark = pytest.mark.models

CODE = '''\
def rectangle_area(width: float, height: float) -> float:
    """Area of a rectangle."""
    return wid'''


async def test_complete_streams_the_rest_of_the_word_and_leaves_nothing(model_path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    environment = {**os.environ, "OFFHOOK_RUNTIME_DIR": str(tmp_path / "run"), "OFFHOOK_LINGER_S": "0.5"}
    command = [sys.executable, "-m", "offhook_app.cli", "complete", f"{tmp_path / 'a.py'}:3:15"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environment)
    async with asyncio.timeout(2 * LIMIT_S):
        out, _ = await process.communicate()
    assert out.decode().rstrip().startswith("th * height")
    assert process.returncode == 0


async def test_a_request_that_is_overtaken_in_its_prompt_gives_way(model_path: Path, tmp_path: Path) -> None:
    server = await ServerProcess.start(tmp_path)
    family = [psutil.Process(server.pid), *server.children()]
    async with LineClient(server) as client:
        client.open(f"{CODE}th * height\n\n\ndef circle_area(radius: float) -> float:\n    return ")
        await client.until(lambda: any(isinstance(e, ServerStatus) and e.model == "ready" for e in client.events))
        client.ask("q_1")
        client.type("3.14 * ")
        client.ask("q_2")
        done = await client.until_done("q_2")
        first = client.done("q_1")
        assert done.outcome == "finished"
        assert done.timing.output_tokens > 0
        assert first is not None
        assert first.outcome in ("superseded", "stale")
    await server.end()
    await gone(family)
