"""`offhook chat` as a process against a real server with the null engine: answered, stopped, cut off, refused."""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.front import Front
from support.processes import LIMIT_S, POLL_S, ServerProcess

pytestmark = pytest.mark.loopback


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    async with await ServerProcess.start(tmp_path / "run", "--engine", "null") as server:
        yield server


async def chat(
    folder: Path, *arguments: str, said: str | None = None, stdout: int = asyncio.subprocess.PIPE
) -> asyncio.subprocess.Process:
    environment = {**os.environ, "OFFHOOK_RUNTIME_DIR": str(folder / "run"), "OFFHOOK_DATA_DIR": str(folder / "data")}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "offhook_app.cli", "chat", *arguments),
        stdin=pipe,
        stdout=stdout,
        stderr=pipe,
        env=environment,
    )
    assert process.stdin is not None
    process.stdin.write((said or "").encode())
    process.stdin.close()
    return process


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str, str]:
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


def engine_threads(server: ServerProcess) -> set[int]:
    """Each request has one of its own."""
    engines = [child for child in server.children() if "--engine" in child.cmdline()]
    return {thread.id for engine in engines for thread in engine.threads()}


async def begun(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(LIMIT_S):
        assert await process.stdout.readexactly(5) == b"begun"


async def test_a_question_is_answered_on_standard_output(server: ServerProcess, tmp_path: Path) -> None:
    assert (await ended(await chat(tmp_path, "[[say: hello there]]")))[:2] == (0, "hello there\n")


async def test_a_question_may_come_by_standard_input_and_bring_a_file(server: ServerProcess, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("# [[say: it was sent]]\n")
    process = await chat(tmp_path, "--file", f"{file}:1", said="what is this?\n")
    assert (await ended(process))[:2] == (0, "it was sent\n")


async def test_ctrl_c_stops_it_and_the_engine(server: ServerProcess, tmp_path: Path) -> None:
    process = await chat(tmp_path, "[[say: begun]][[hang]]")
    await begun(process)
    threads = engine_threads(server)
    process.send_signal(signal.SIGINT)
    assert (await ended(process))[0] == 130
    async with asyncio.timeout(LIMIT_S):
        while engine_threads(server) >= threads:  # none of them has ended
            await asyncio.to_thread(threading.Event().wait, POLL_S)
    assert (await ended(await chat(tmp_path, "[[say: free again]]")))[:2] == (0, "free again\n")


async def test_lines_of_a_file_and_the_other_model(server: ServerProcess, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("# [[say: one]]\n# [[say: two]]\n# [[say: three]]\n")
    process = await chat(tmp_path, "what is this?", "--file", f"{file}:1-2", "--model", "fast")
    assert (await ended(process))[:2] == (0, "two\n")


async def test_it_asks_by_http_where_no_websocket_is_taken(server: ServerProcess, tmp_path: Path) -> None:
    async with Front(server, 426) as front:
        (tmp_path / "run" / "server.json").write_text(json.dumps({"base_url": front.base_url, "pid": server.pid}))
        assert (await ended(await chat(tmp_path, "[[say: by http]]")))[:2] == (0, "by http\n")
        process = await chat(tmp_path, "[[say: begun]][[hang]]")
        await begun(process)
        process.send_signal(signal.SIGINT)
        assert (await ended(process))[0] == 130
        process = await chat(tmp_path, "[[say: begun]][[hang]]")
        await begun(process)
        server.kill()
        code, _, err = await ended(process)
        assert (code, "The line was lost." in err) == (1, True)


async def test_an_answer_commands_no_terminal(server: ServerProcess, tmp_path: Path) -> None:
    assert (await ended(await chat(tmp_path, "[[say: red \x1b[31m\x9b31m\a]]")))[:2] == (0, "red [31m31m\n")


async def test_whoever_reads_it_may_leave(server: ServerProcess, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    process = await chat(tmp_path, "[[say: begun and more]][[token_ms: 20]][[tokens: 500]]", stdout=writing)
    os.close(writing)
    assert await asyncio.to_thread(os.read, reading, 1)
    os.close(reading)  # as `head` does
    async with asyncio.timeout(LIMIT_S):
        assert process.stderr is not None
        assert b"Traceback" not in await process.stderr.read()
        assert await process.wait() == 1


async def test_the_small_model_in_the_place_of_one_that_is_not_here_is_said(
    server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        f'[models]\nfast = {{url = "{server.base_url}", model = "fast", key_env = "KEY", fim = "none"}}\n'
    )
    for name, value in {"CONFIG": config, "MODELS_DIR": tmp_path / "none", "RUNTIME_DIR": tmp_path / "b/run"}.items():
        monkeypatch.setenv(f"OFFHOOK_{name}", str(value))
    monkeypatch.setenv("KEY", server.token)
    async with await ServerProcess.start(tmp_path / "b/run"):
        code, out, err = await ended(await chat(tmp_path / "b", "[[say: instead]]"))
        assert (code, out) == (0, "instead\n")
        assert err.count("`offhook models fetch deep` fetches it") == 1
        code, out, err = await ended(await chat(tmp_path / "b", "[[say: as asked]]", "--model", "fast"))
        assert (code, out, "fetch deep" in err) == (0, "as asked\n", False)


async def test_a_link_to_a_secret_is_a_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PASSWORD=1")
    (tmp_path / "notes.txt").symlink_to(tmp_path / ".env")
    code, _, err = await ended(await chat(tmp_path, "why?", "--file", str(tmp_path / "notes.txt")))
    assert (code, "notes.txt is never sent" in err) == (1, True)


async def test_a_server_that_dies_in_mid_answer_is_said(server: ServerProcess, tmp_path: Path) -> None:
    process = await chat(tmp_path, "[[say: begun]][[hang]]")
    await begun(process)
    server.kill()
    code, out, err = await ended(process)
    assert (code, out) == (1, "\n")
    assert "The line was lost." in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no question"),
        (("why?", "--file", ".env"), ".env is never sent"),
        (("why?", "--file", "not/there.py"), "No such file"),
        (("why?", "--file", "a.py:0"), "lines and columns count from 1"),
        (("why?", "--file", f"{__file__}:9-2"), "line 2 comes before line 9"),
        (("why?", "--file", f"{__file__}:90000-90001"), "test_chat.py has "),
    ],
)
async def test_what_cannot_be_asked_is_said_at_once(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    code, out, err = await ended(await chat(tmp_path, *arguments))
    assert (code, out) == (1, "")
    assert words in err
