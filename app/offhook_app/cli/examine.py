"""Looks at this machine for `offhook doctor`: every question is bounded in time, none changes anything. Judges nothing.

Needs the standard library and little more, so that it still works where much is missing.
"""

import asyncio
import http.client
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from offhook_app import settings
from offhook_app.settings import Settings
from offhook_app.state.health import Answer, FolderSeen, Installed, Plan, Role, Seat, ServerSeen, SoundSeen, Trial
from offhook_app.transport.server_process import Endpoint, ServerMissing, ServerProcess
from offhook_wire import reentry
from offhook_wire.version import PRODUCT

TRIAL_LIMIT_S = 20.0  # a first start reads libraries from the disk, and a false alarm is worse than a wait
ASK_LIMIT_S = 3.0  # to ask a server of this machine how it is
ANSWER_LIMIT_S = 60.0  # to load a model and have its first words
NAMED = {"Qt": "PySide6-Essentials", "xllamacpp": "xllamacpp"}
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)[^;]*")


# -- what is installed ----------------------------------------------------------------------------------------------


def installed() -> Installed:
    there = {_plain(found.name) for found in metadata.distributions()}
    missing = [named[0] for named in _required() if _plain(named["name"]) not in there]
    versions = {"Offhook": PRODUCT}
    versions |= {name: metadata.version(package) for name, package in NAMED.items() if _plain(package) in there}
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    return Installed(sys.version_info[:3], system, versions, missing)


def _required() -> list[re.Match[str]]:
    """Of every use, not what only benches and tests want; nothing where this program has no metadata (frozen)."""
    try:
        said = metadata.requires("offhook") or []
    except metadata.PackageNotFoundError:
        return []
    return [match for line in said if "extra ==" not in line and (match := REQUIREMENT.match(line))]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


async def window() -> Trial | None:
    return await trial("window") if settings.has_display() else None


async def trial(what: str) -> Trial:
    return await ran(*reentry.command("offhook_app.cli.trial", what))


async def ran(*command: str, limit_s: float | None = None) -> Trial:
    """`limit_s` None: TRIAL_LIMIT_S. Code 127: there is no such program."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
    except OSError as e:
        return Trial(127, "", e.strerror or "")
    try:
        out, err = await asyncio.wait_for(process.communicate(), limit_s or TRIAL_LIMIT_S)
    except TimeoutError:
        return Trial(None)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Trial(process.returncode, out.decode(errors="replace").strip(), err.decode(errors="replace"))


# -- the server and its models ------------------------------------------------------------------------------------------


async def plan(given: Settings) -> Plan:
    asked = await ran(*reentry.command("offhook_server", "plan", *given.server_arguments))
    try:
        said = json.loads(asked.said)
    except ValueError:
        return Plan(refused=f"The server does not start: {asked.why}.")
    if asked.code != 0:
        return Plan(refused=said["message"])
    return Plan(said["models_folder"], [Seat(**seat) for seat in said["seats"]])


def server(runtime: Path) -> ServerSeen:
    file = runtime / "server.json"
    try:
        said = json.loads(file.read_text())
        base_url, pid = str(said["base_url"]), int(said["pid"])
    except FileNotFoundError:
        return ServerSeen("none")
    except (OSError, ValueError, LookupError, TypeError):
        return ServerSeen("unreadable", str(file))
    seen = ServerSeen("gone", str(file), base_url, pid if _serves(pid) else 0)
    try:
        return _asked(seen, _text(runtime / "token").strip())
    except (ConnectionRefusedError, http.client.InvalidURL):
        return seen
    except OSError:
        return replace(seen, kind="mute")
    except (http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError):
        return replace(seen, kind="stranger")


def _serves(pid: int) -> bool:
    """Whether this process is a server of ours: numbers are used again, and nobody shall be told to end another's."""
    try:
        import psutil
    except ImportError:
        return False
    try:
        return "offhook_server" in psutil.Process(pid).cmdline()
    except (psutil.Error, ValueError, OverflowError):
        return False


def _text(path: Path) -> str:
    """Empty where it can't be read: then the server will not take it for its key."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _asked(seen: ServerSeen, token: str) -> ServerSeen:
    """Raises OSError, and anything that comes of an answer that is not ours."""
    _, health = _ask(Endpoint(seen.base_url, ""), "GET", "/healthz", None, ASK_LIMIT_S)
    failed = [role for role, model in health["models"].items() if model["state"] == "failed"]
    version = str(health["version"])
    status, _ = _ask(Endpoint(seen.base_url, token), "GET", "/v1/models", None, ASK_LIMIT_S)
    return replace(seen, kind="locked" if status == 401 else "answers", version=version, failed=failed)


async def answers(given: Settings, roles: list[Role]) -> list[Answer]:
    """Starts the server where none runs, loads the models and asks each for a word, one after the other."""
    try:
        endpoint = await ServerProcess(given).endpoint()
    except ServerMissing as e:
        return [Answer(role, fault=str(e)) for role in roles]
    return [await asyncio.to_thread(_answer, endpoint, role) for role in roles]


def _answer(endpoint: Endpoint, role: Role) -> Answer:
    question = {"model": role, "input": "Say: ready", "max_output_tokens": 4, "store": False}
    began = monotonic()
    try:
        status, said = _ask(endpoint, "POST", "/v1/responses", question, ANSWER_LIMIT_S)
        _, health = _ask(endpoint, "GET", "/healthz", None, ASK_LIMIT_S)
        own = health["models"][role]["state"] == "ready"
    except TimeoutError:
        return Answer(role, fault=f"nothing came within {ANSWER_LIMIT_S:g} s")
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError) as e:
        return Answer(role, fault=f"the server said nothing useful ({type(e).__name__})")
    if fault := said.get("error"):
        return Answer(role, fault=fault["message"])
    return Answer(role, monotonic() - began, own=own) if status == 200 else Answer(role, fault=f"status {status}")


def _ask(endpoint: Endpoint, method: str, path: str, body: object, limit_s: float) -> tuple[int, dict[str, Any]]:
    """Raises OSError, HTTPException, ValueError. No proxy: the server is on this machine."""
    address = urlsplit(endpoint.base_url)
    with closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=limit_s)) as connection:
        headers = {"Authorization": f"Bearer {endpoint.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        said = json.loads(response.read())
        return response.status, said


# -- folders, memory, disk, sound ------------------------------------------------------------------------------------------


def folder(path: Path) -> FolderSeen:
    there = _nearest(path)
    if there != path:
        return FolderSeen(str(path), there.is_dir() and os.access(there, os.W_OK | os.X_OK))
    try:
        with tempfile.TemporaryFile(dir=path):
            writable = True
    except OSError:
        writable = False
    shared = os.name == "posix" and bool(path.stat().st_mode & 0o077)
    return FolderSeen(str(path), writable, shared)


def free_bytes(path: Path) -> int:
    return shutil.disk_usage(_nearest(path)).free


def _nearest(path: Path) -> Path:
    """`path`, or where it would be made."""
    # not Path.exists, which raises where a folder above may not be looked into
    return next(place for place in (path, *path.absolute().parents) if os.path.exists(place))


def memory_bytes() -> int | None:
    """What programs can have; None without psutil."""
    try:
        import psutil
    except ImportError:
        return None
    available: int = psutil.virtual_memory().available
    return available


async def sound() -> SoundSeen | None:
    tried = await trial("sound")
    if tried.code == 0 and (counts := json.loads(tried.said)):
        return SoundSeen("PortAudio", *counts)
    if shutil.which("pactl"):
        sources, sinks = await asyncio.gather(_pulse("sources"), _pulse("sinks"))
        if sources is not None and sinks is not None:
            # what a loudspeaker plays can be recorded as "….monitor": no microphone
            return SoundSeen("PulseAudio", sum(".monitor" not in line for line in sources), len(sinks))
    return alsa(Path("/proc/asound/pcm"))


def alsa(devices: Path) -> SoundSeen | None:
    if not devices.exists():
        return None
    lines = devices.read_text().splitlines()
    return SoundSeen("ALSA", sum("capture" in line for line in lines), sum("playback" in line for line in lines))


async def _pulse(kind: str) -> list[str] | None:
    listed = await ran("pactl", "list", "short", kind, limit_s=ASK_LIMIT_S)
    return listed.said.splitlines() if listed.code == 0 else None
