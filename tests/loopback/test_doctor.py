"""`offhook doctor` as a process: a whole environment, a running server, and many broken ones. Nothing of this user's own."""

import asyncio
import importlib.metadata
import json
import os
import socket
import sys
from pathlib import Path

import pytest
from aiohttp import web

from offhook_app.cli import examine
from offhook_app.settings import Settings
from offhook_app.state.health import ServerSeen, SoundSeen, Trial
from support.processes import LIMIT_S, ServerProcess, gone

pytestmark = pytest.mark.loopback


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """An environment of the test's own, with the null engine in it."""
    for name in ("run", "data", "models"):
        (tmp_path / name).mkdir(mode=0o700)
    return {
        **os.environ,
        "OFFHOOK_RUNTIME_DIR": str(tmp_path / "run"),
        "OFFHOOK_DATA_DIR": str(tmp_path / "data"),
        "OFFHOOK_MODELS_DIR": str(tmp_path / "models"),
        "OFFHOOK_CONFIG": "",
        "OFFHOOK_SERVER_ARGS": "--engine null",
        "OFFHOOK_LINGER_S": "0.1",
        "QT_QPA_PLATFORM": "offscreen",
    }


async def doctor(place: dict[str, str], *arguments: str) -> tuple[int | None, str]:
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "offhook_app.cli", "doctor", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, env=place)
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate()
    assert not err, err.decode()
    return process.returncode, out.decode()


async def looked(runtime: Path) -> ServerSeen:
    return await asyncio.to_thread(examine.server, runtime)


def announce(tmp_path: Path, base_url: str, pid: int = 1) -> None:
    (tmp_path / "run" / "token").write_text("another key")
    (tmp_path / "run" / "server.json").write_text(json.dumps({"base_url": base_url, "pid": pid}))


async def test_a_whole_environment(place: dict[str, str]) -> None:
    code, out = await doctor(place)
    assert code == 0
    for words in (
        "ok    install   Offhook 0.1.0, Qt 6.",
        "A window can be opened (Qt 6.",
        "ok    engine    The engine's library loads (xllamacpp ",
        "ok    models    fast: null is here.",
        "ok    server    No server runs;",
        f"ok    folders   data: {place['OFFHOOK_DATA_DIR']}",
    ):
        assert words in out
    assert "BAD" not in out
    assert "\x1b" not in out
    assert out.splitlines()[-1].endswith(("to look at.", "All is well."))


async def test_a_broken_environment(place: dict[str, str], tmp_path: Path) -> None:
    """Everything wrong at once, each with its line; nothing is mended by itself."""
    (tmp_path / "file").write_text("")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "config.toml").write_text("[modles]\n")
    announce(tmp_path, "http://127.0.0.1:1/v1")
    del place["QT_QPA_PLATFORM"]
    place |= {
        "OFFHOOK_DATA_DIR": str(tmp_path / "file" / "data"),
        "OFFHOOK_CONFIG": str(tmp_path / "config.toml"),
        "DISPLAY": ":1234",
    }
    code, out = await doctor(place, "--json")
    said = json.loads(out)
    levels = {(finding["topic"], finding["level"]) for finding in said["findings"]}
    assert (code, said["worst"]) == (1, "bad")
    assert {("window", "bad"), ("settings", "bad"), ("server", "warn"), ("folders", "bad")} <= levels
    mends = [finding["mend"] for finding in said["findings"]]
    for line in (
        "echo $DISPLAY",
        f"rm {tmp_path}/run/server.json",
        f"chmod 700 {tmp_path}/run",
        f"${{EDITOR:-vi}} {tmp_path}/config.toml",
        "export OFFHOOK_D",
    ):
        assert any(mend.startswith(line) for mend in mends), line
    says = [finding["says"] for finding in said["findings"]]
    assert any(sentence.startswith("config.toml, line 1: modles") for sentence in says)
    assert not any(sentence.startswith(("models:", "No model can be fetched")) for sentence in says)
    assert (tmp_path / "run" / "server.json").exists()


async def test_models_not_verified_missing_or_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFHOOK_MODELS_DIR", str(tmp_path))
    monkeypatch.setenv("OFFHOOK_CONFIG", "")
    (tmp_path / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf").write_bytes(b"GGUF")
    given = Settings(tmp_path, tmp_path)
    plan = await examine.plan(given)
    assert plan.models_folder == str(tmp_path)
    assert [(seat.state, seat.fetch_bytes > 2e9) for seat in plan.seats] == [("unverified", False), ("absent", True)]
    config = tmp_path / "config.toml"
    monkeypatch.setenv("OFFHOOK_CONFIG", str(config))
    config.write_text('[models]\nfast = "gone.gguf"\ndeep = {url = "http://127.0.0.1:9/v1", key_env = "NO_SUCH_KEY"}\n')
    fast, deep = (await examine.plan(given)).seats
    assert (fast.source, fast.state) == ("file", "missing")
    assert (deep.name, deep.state, deep.unset_key) == ("http://127.0.0.1:9/v1", "elsewhere", "NO_SUCH_KEY")


async def test_a_server_that_runs_has_another_key_or_was_killed(tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    async with await ServerProcess.start(runtime, "--engine", "null") as server:
        seen = await looked(runtime)
        assert (seen.kind, seen.base_url, seen.pid, seen.failed) == ("answers", server.base_url, server.pid, [])
        (runtime / "token").write_text("another key")
        assert (await looked(runtime)).kind == "locked"
        (runtime / "token").unlink()
        assert (await looked(runtime)).kind == "locked"
        workers = server.children()
        server.kill()
        await server.process.wait()
    await gone(workers)
    assert (await looked(runtime)).kind == "gone"


async def test_somebody_else_is_where_the_server_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir()
    assert (await looked(runtime)).kind == "none"
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    announce(tmp_path, f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    assert (await looked(runtime)).kind == "stranger"
    await runner.cleanup()
    monkeypatch.setattr(examine, "ASK_LIMIT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        announce(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        seen = await looked(runtime)
        assert (seen.kind, seen.pid) == ("mute", 0)
    for unreadable in ("[]", "nonsense", '{"base_url": "http://127.0.0.1:1/v1"}'):
        (runtime / "server.json").write_text(unreadable)
        assert (await looked(runtime)).kind == "unreadable"


def test_folders_that_can_be_made_and_that_cannot(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert examine.folder(tmp_path / "new" / "er").writable
    assert not examine.folder(tmp_path / "file" / "er").writable
    assert not examine.folder(tmp_path / "file").writable
    assert examine.free_bytes(tmp_path / "new") > 0
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_even_be_asked_about(tmp_path: Path) -> None:
    assert examine.folder(tmp_path / ("x" * 300)).path
    assert examine.free_bytes(tmp_path / ("x" * 300)) > 0


async def test_with_deep_the_models_are_asked(place: dict[str, str]) -> None:
    code, out = await doctor(place, "--deep")
    assert code == 0
    assert "fast was loaded and answered after" in out
    assert "deep was loaded and answered after" in out


async def test_a_server_that_cannot_start_answers_for_no_model(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (answer,) = await examine.answers(Settings(tmp_path / "file" / "run", tmp_path), ["fast"])
    assert answer.fault.startswith("The runtime folder can't be used")


async def test_a_model_that_takes_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "ANSWER_LIMIT_S", 0.1)
    runtime = tmp_path / "run"
    runtime.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        announce(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        assert [answer.fault for answer in await examine.answers(Settings(runtime, tmp_path), ["fast"])] == [
            "nothing came within 0.1 s"
        ]


async def test_sound_devices_by_pulse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pactl = tmp_path / "pactl"
    pactl.write_text("#!/bin/sh\n[ $3 = sinks ] && echo 0 out || printf '0 out.monitor\\n1 mic\\n2 mic2\\n'\n")
    pactl.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(examine, "trial", no_portaudio)
    assert await examine.sound() == SoundSeen("PulseAudio", 2, 1)


async def no_portaudio(what: str) -> Trial:
    return Trial(0, "null")


def test_sound_devices_by_alsa(tmp_path: Path) -> None:
    listed = tmp_path / "pcm"
    assert examine.alsa(listed) is None
    listed.write_text("00-00: A : A : playback 1 : capture 1\n00-03: HDMI : HDMI : playback 1\n")
    assert examine.alsa(listed) == SoundSeen("ALSA", 1, 2)


async def test_a_question_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "TRIAL_LIMIT_S", 0.05)
    assert await examine.ran("sleep", "60") == Trial(None)
    assert (await examine.ran("no-such-program-here")).code == 127


def test_what_is_required_and_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["aiohttp<4,>=3.14", 'h2; extra == "bench"', "No.Such_Thing>=2; python_version > '3'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: wanted)
    assert examine.installed().missing == ["No.Such_Thing>=2"]
