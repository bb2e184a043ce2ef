"""What models there are and how they stand on this machine, as plain values and as a table. Fetches nothing."""

from pathlib import Path
from typing import Literal

import msgspec

from offhook_server.models import store
from offhook_server.models.manifest import ModelEntry, entries, licence_text
from offhook_server.models.own import OwnModel, registered

State = Literal["here", "unverified", "partly", "absent", "missing"]

STATES: dict[State, str] = {
    "here": "here",
    "unverified": "here, not verified",
    "partly": "partly here",
    "absent": "not here",
    "missing": "gone from its place",
}


class Held(msgspec.Struct, frozen=True):
    """`role` "own": a file of the person's. `have_bytes`: on this machine, also of a download that was broken off."""

    name: str
    role: Literal["fast", "deep", "own"]
    state: State
    size_bytes: int
    have_bytes: int
    licence: str
    source: str


def inventory(folder: Path) -> list[Held]:
    """Raises UserError when what is registered can't be read."""
    known = [held(name, model, folder) for name, model in entries().items()]
    return known + [_own(name, model) for name, model in registered(folder).items()]


def held(name: str, model: ModelEntry, folder: Path) -> Held:
    path = folder / model.file
    have = path.stat().st_size if path.is_file() else store.arrived_bytes(model, folder)
    state: State = "here" if store.find(model, folder) else "partly" if have else "absent"
    if path.is_file() and state != "here":
        state = "unverified"
    return Held(name, model.role, state, model.size_bytes, have, model.licence, model.source)


def _own(name: str, model: OwnModel) -> Held:
    here = Path(model.path).is_file()
    have = model.size_bytes if here else 0
    return Held(name, "own", "here" if here else "missing", model.size_bytes, have, "yours to know", model.path)


def table(models: list[Held], folder: Path) -> str:
    head = ("NAME", "FOR", "SIZE", "STATE", "LICENCE")
    rows = [head, *((m.name, m.role, f"{m.size_bytes // 1_000_000} MB", _state(m), m.licence) for m in models)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", *_sources(models), f"Folder: {folder}"]) + "\n"


def licences() -> str:
    """The notice of each model, and the text of each licence once."""
    models = entries()
    notices = [model.notice for model in models.values()]
    texts = [licence_text(licence) for licence in sorted({model.licence for model in models.values()})]
    return "\n".join([*notices, "", *texts])


def _state(model: Held) -> str:
    words = STATES[model.state]
    return f"{words}, {model.have_bytes * 100 // model.size_bytes} %" if model.state == "partly" else words


def _sources(models: list[Held]) -> list[str]:
    """Each source once, with the models that come from there."""
    names: dict[str, list[str]] = {}
    for model in models:
        names.setdefault(model.source, []).append(model.name)
    return [f"{', '.join(found)}: {source}" for source, found in names.items()]
