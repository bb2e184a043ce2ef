"""What the settings put in each role and what that takes, as plain values for `offhook doctor`. Loads and asks nothing."""

from pathlib import Path
from typing import Literal, assert_never

from msgspec import Struct

from offhook_server.core.engines import ROLES, Role
from offhook_server.models import inventory, seats
from offhook_server.models.manifest import entry
from offhook_server.models.store import ROOM_SHARE
from offhook_server.settings import Place, Settings


class Seat(Struct, frozen=True):
    """`source`: one of `offhook models list`, a file of the person's, another server, or the null engine. `name`: of the
    model, its path or its address. `needs_bytes`: memory that has to be free. `fetch_bytes`: disk that a download takes.
    `unset_key`: the variable that is to hold the key of the place, and is not set."""

    role: Role
    source: Literal["list", "file", "place", "null"]
    name: str
    state: inventory.State | Literal["elsewhere"]
    size_bytes: int = 0
    needs_bytes: int = 0
    fetch_bytes: int = 0
    unset_key: str = ""


class Plan(Struct, frozen=True):
    models_folder: str
    seats: list[Seat]


def plan(settings: Settings) -> Plan:
    """Raises UserError."""
    return Plan(str(settings.models), [_seat(settings, role) for role in ROLES])


def _seat(settings: Settings, role: Role) -> Seat:
    rules = seats.rules(settings, role)
    if settings.engine == "null":
        return Seat(role, "null", rules.name, "here")
    needs_bytes = max(rules.needs_bytes, rules.floor_bytes)
    choice = settings.fast if role == "fast" else settings.deep
    match choice:
        case Place():
            unset_key = choice.key_env if not choice.key else ""
            return Seat(role, "place", choice.url, "elsewhere", unset_key=unset_key)
        case Path():
            return Seat(role, "file", str(choice), "here" if choice.is_file() else "missing", 0, needs_bytes)
        case str():
            held = inventory.held(choice, entry(choice), settings.models)
            fetch_bytes = int(ROOM_SHARE * held.size_bytes) if held.state in ("absent", "partly") else 0
            return Seat(role, "list", choice, held.state, held.size_bytes, needs_bytes, fetch_bytes)
        case _:
            assert_never(choice)
