"""What sits in each role: from the person's settings to a model and the rules it lives by. Loads nothing."""

from pathlib import Path
from typing import Any, assert_never

from offhook_server.backends.remote import RemoteModel
from offhook_server.core.engines import GB, Role, Rules
from offhook_server.models.local import Listener, LocalModel
from offhook_server.models.manifest import entry
from offhook_server.models.worker_client import WorkerSpec
from offhook_server.settings import Choice, Place, Settings

NICENESS: dict[Role, int] = {"fast": 5, "deep": 10}
MEMORY_SHARE = 2.0  # memory of a loaded model, by the size of its file (measured: 1.98 for the 1.5B, 1.59 for the 0.5B)
NULL: dict[Role, str] = {"fast": "null", "deep": "null-deep"}


def rules(settings: Settings, role: Role) -> Rules:
    """Raises UserError for a name that no model has."""
    choice = _choice(settings, role)
    if settings.engine == "null":
        return Rules(NULL[role], _idle_s(settings, role))
    if isinstance(choice, Place):
        return Rules(_name(choice), elsewhere=True)
    floor_gb = settings.engines.deep_floor_gb if role == "deep" else 0.0
    size_bytes = entry(choice).size_bytes if isinstance(choice, str) else _size_bytes(choice)
    return Rules(_name(choice), _idle_s(settings, role), int(MEMORY_SHARE * size_bytes), int(floor_gb * GB))


def model(settings: Settings, role: Role, listener: Listener) -> LocalModel | RemoteModel:
    """Raises UserError for a name that no model has, and for a place that may not be used."""
    choice = _choice(settings, role)
    if settings.engine == "null":
        return LocalModel(NULL[role], WorkerSpec("null", niceness=NICENESS[role]), None, "", listener)
    match choice:
        case Place():
            remote = RemoteModel(choice, on_change=lambda: listener.worker("ready", remote.detail))
            return remote
        case Path():
            missing = (
                f"The model file that the settings name for the {role} lane is not there. Put it there or name another."
            )
            return LocalModel(_name(choice), _spec(settings, role, choice), None, missing, listener)
        case str():
            known = entry(choice)
            size_mb = known.size_bytes // 1_000_000
            missing = (
                f"{choice} is not on this machine yet ({size_mb} MB, {known.licence}); `offhook models fetch {role}` "
                "fetches it, and so does the window."
            )
            return LocalModel(choice, _spec(settings, role, settings.models / known.file), known, missing, listener)
        case _:
            assert_never(choice)


def _choice(settings: Settings, role: Role) -> Choice:
    return settings.fast if role == "fast" else settings.deep


def _idle_s(settings: Settings, role: Role) -> float:
    return settings.engines.fast_idle_s if role == "fast" else settings.engines.deep_idle_s


def _spec(settings: Settings, role: Role, path: Path) -> WorkerSpec:
    """The deep engine's answers repeat what was asked about, so it looks them up there before it thinks. It serves one
    suggestion and one question at a time."""
    options: dict[str, Any] = {"threads": settings.engines.threads}
    if role == "deep":
        options |= {"lookup": True, "slots": 2}
    return WorkerSpec("llama", path, options, NICENESS[role])


def _name(choice: Choice) -> str:
    match choice:
        case Place():
            return choice.model or "remote"
        case Path():
            return choice.stem
        case str():
            return choice
        case _:
            assert_never(choice)


def _size_bytes(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
