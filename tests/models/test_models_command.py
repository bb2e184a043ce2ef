"""`offhook models` as a person runs it: real processes, a folder of the test's own, nothing from the network."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from offhook_server import settings
from offhook_server.models.manifest import entries, entry
from offhook_server.models.own import registered
from support.gguf_file import gguf

pytestmark = pytest.mark.loopback

FAST = entry("fast")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models' folder, in a place whose name has what TOML minds in it; sources are out of reach."""
    folder = tmp_path / 'models "ö" \\ 1'
    folder.mkdir()
    monkeypatch.setenv("OFFHOOK_MODELS_DIR", str(folder))
    monkeypatch.setenv("OFFHOOK_CONFIG", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    return folder


async def offhook(*arguments: str | Path) -> tuple[int | None, str]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "offhook_app.cli", "models", *arguments, stdout=pipe, stderr=pipe
    )
    out, err = await process.communicate()
    return process.returncode, (out + err).decode()


async def test_the_list_says_what_there_is_and_how_it_stands(folder: Path) -> None:
    (folder / f"{FAST.file}.part.url").write_bytes(bytes(FAST.size_bytes // 100))
    code, said = await offhook("list")
    assert code == 0
    assert "qwen2.5-coder-0.5b  fast  491 MB   partly here, 0 %  Apache-2.0" in said
    assert "qwen2.5-coder-1.5b  deep  1117 MB  not here          Apache-2.0" in said
    assert f"{FAST.source}\n" in said
    assert said.endswith(f"Folder: {folder}\n")
    (folder / FAST.file).write_bytes(b"GGUF")
    _, said = await offhook("list", "--json")
    assert [json.loads(line)["state"] for line in said.splitlines()] == ["unverified", "absent"]


async def test_the_licences_are_shown_whole(folder: Path) -> None:
    code, said = await offhook("list", "--licences")
    assert code == 0
    assert all(model.notice in said for model in entries().values())
    assert "END OF TERMS AND CONDITIONS" in said


async def test_no_source_answers(folder: Path) -> None:
    code, said = await offhook("fetch", "fast")
    assert code == 1
    assert said.startswith("offhook models: No source of the model answered.")
    assert "`offhook models fetch fast`; what has arrived is kept" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_stopped_it_keeps_what_has_arrived(folder: Path, number: signal.Signals) -> None:
    """Another process holds the file, so this one waits."""
    arrived = folder / f"{FAST.file}.part.url"
    arrived.write_bytes(b"GGUF")
    with FileLock(folder / f"{FAST.file}.lock"):
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "offhook_app.cli", "models", "fetch", "fast", stdout=pipe, stderr=pipe
        )
        assert process.stdout is not None
        assert (await process.stdout.readline()).startswith(b"Waiting for another process")
        process.send_signal(number)
        _, said = await process.communicate()
    assert process.returncode == 130
    assert said == b"offhook models: Stopped; what has arrived is kept, and the same line goes on.\n"
    assert arrived.read_bytes() == b"GGUF"


async def test_verify_says_in_words_and_in_json_what_is_wrong(folder: Path) -> None:
    code, said = await offhook("verify")
    assert (code, said) == (
        1,
        "offhook models: No model is on this machine yet. `offhook models fetch fast` fetches the small one.\n",
    )
    (folder / FAST.file).write_bytes(b"GGUF")
    code, said = await offhook("verify", "fast", "--json")
    assert code == 1
    assert json.loads(said)["event"] == "failed"
    assert "cut short. `offhook models fetch fast` fetches it again." in json.loads(said)["message"]


async def test_a_model_of_the_persons_own_is_checked_remembered_and_forgotten_but_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder.parent / "My Model.gguf"
    path.write_bytes(gguf("llama"))
    code, said = await offhook("add", path)
    assert code == 0
    assert said.startswith("my-model: a llama model, 0 MB. It stays where it is.")
    assert registered(folder)["my-model"].path == str(path)
    _, said = await offhook("list")
    assert "my-model" in said
    settings_file = folder.parent / "config.toml"
    settings_file.write_text('[models]\nfast = "my-model"\n')
    monkeypatch.setenv("OFFHOOK_CONFIG", str(settings_file))
    assert settings.load([]).fast == path
    other = folder / "my-model.gguf"
    other.write_bytes(gguf())
    code, said = await offhook("add", other)
    assert (code, "called my-model already" in said) == (1, True)
    code, said = await offhook("remove", "my-model")
    assert said == "my-model is forgotten. The file is yours and stays where it is.\n"
    assert registered(folder) == {}
    assert path.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [(gguf("clip"), "can't write text"), (gguf()[:-1], "cut short"), (b"", "empty"), (None, "can't be read")],
)
async def test_a_bad_file_is_refused_and_not_remembered(folder: Path, content: bytes | None, words: str) -> None:
    path = folder / "bad.gguf"
    if content is not None:
        path.write_bytes(content)
    code, said = await offhook("add", path)
    assert code == 1
    assert words in said
    assert registered(folder) == {}


async def test_remove_tells_the_bytes_freed(folder: Path) -> None:
    (folder / FAST.file).write_bytes(bytes(3_000_000))
    assert await offhook("remove", "fast") == (0, "qwen2.5-coder-0.5b: 3 MB freed.\n")
    assert await offhook("remove", "fast") == (0, "qwen2.5-coder-0.5b is not here; nothing to remove.\n")
    code, said = await offhook("remove", "no-such-model")
    assert (code, "there is qwen2.5-coder-0.5b" in said) == (1, True)
    assert os.listdir(folder) == []


async def test_a_register_that_is_not_ours_is_said(folder: Path) -> None:
    (folder / "own.toml").write_text("nonsense")
    code, said = await offhook("list")
    assert (code, "own.toml" in said) == (1, True)
