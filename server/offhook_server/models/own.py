"""The person's own model files that Offhook knows of: own.toml in the models' folder says where they are.

The files stay theirs: nothing here writes, moves or removes one.
"""

import json
import re
from pathlib import Path

import msgspec

from offhook_server.errors import UserError
from offhook_server.models import gguf
from offhook_server.models.manifest import entries

REGISTER = "own.toml"
HEAD = "# Models of your own, for `offhook models`; written by `offhook models add` and `remove`.\n"
UNREADABLE = "own.toml in the models' folder is not what `offhook models add` wrote. Mend it or remove it."
TAKEN = "A model is called {name} already. Rename the file, or `offhook models remove {name}` first."


class OwnModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    size_bytes: int
    architecture: str


def registered(folder: Path) -> dict[str, OwnModel]:
    """Raises UserError."""
    try:
        text = (folder / REGISTER).read_bytes()
        return msgspec.toml.decode(text, type=dict[str, OwnModel])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise UserError(UNREADABLE) from None


def add(path: Path, folder: Path) -> tuple[str, OwnModel]:
    """Its name, and what is known of it. Raises UserError when it is not a whole language model, and OSError."""
    found = gguf.inspect(path)
    name = re.sub(r"[^\w.+-]+", "-", path.stem).strip("-").lower() or "model"
    models = registered(folder)
    model = OwnModel(str(path.resolve()), found.size_bytes, found.architecture)
    if name in entries() or (name in models and models[name].path != model.path):
        raise UserError(TAKEN.format(name=name))
    _write(folder, models | {name: model})
    return name, model


def forget(name: str, folder: Path) -> None:
    models = registered(folder)
    del models[name]
    _write(folder, models)


def _write(folder: Path, models: dict[str, OwnModel]) -> None:
    """A JSON string is a TOML one too."""
    tables = [
        f'\n["{name}"]\npath = {json.dumps(model.path, ensure_ascii=False)}\nsize_bytes = {model.size_bytes}\n'
        f'architecture = "{model.architecture}"\n'
        for name, model in sorted(models.items())
    ]
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{REGISTER}.part"
    part.write_text(HEAD + "".join(tables), "utf-8")
    part.replace(folder / REGISTER)
