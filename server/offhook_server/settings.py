"""What can be set from outside: the command line, the environment, the person's settings file. Read once, at start.

The only place that reads the environment. The settings file is config.toml in the platform's configuration folder, or
what OFFHOOK_CONFIG names; all of it may be left out:

    quiet = false                    # true: nothing is decoded unless you ask; the copy model goes on

    [models]
    folder = "~/models"
    fast = "qwen2.5-coder-0.5b"      # a model of `offhook models list`, the path of a GGUF file, or a place:
    deep = {url = "http://127.0.0.1:8080/v1", model = "any", key_env = "MY_KEY", fim = "infill"}

    [engines]
    threads = 2                      # for a prompt; tokens always have one
    fast_idle_s = 900                # unloaded when nobody has asked for so long
    deep_idle_s = 300
    deep_floor_gb = 6                # with less memory free, the deep model is not loaded
"""

import argparse
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
import platformdirs
from msgspec import Meta, Struct

from offhook_server.errors import UserError
from offhook_wire.places import runtime_folder, settings_file

APP = "offhook"
FAST_MODEL = "qwen2.5-coder-0.5b"
DEEP_MODEL = "qwen2.5-coder-1.5b"

# How a place fills in the middle: llama.cpp's /infill, a `suffix` of /completions, Mistral's /fim/completions, the marks of
# a family of models in a raw prompt, or not at all: then the model is asked in words. See core.fim.
Fim = Literal["infill", "suffix", "mistral", "qwen", "starcoder", "deepseek", "codestral", "codellama", "none"]


@dataclass(frozen=True, slots=True)
class Place:
    """A model somewhere else. `url`: where its API begins, without a slash at the end. `key`: what the environment
    variable `key_env` holds, empty where it is not set. `fim` None: whatever the place turns out to offer. `insecure`:
    text and key may go to another machine without encryption."""

    url: str
    model: str = ""
    key_env: str = ""
    fim: Fim | None = None
    insecure: bool = False
    key: str = field(default="", repr=False)


Choice = str | Path | Place  # a name in models.toml, a GGUF file, a place


class EngineSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`threads`: for a prompt. `deep_floor_gb`: memory that the deep model leaves to others."""

    threads: Annotated[int, Meta(ge=1, le=64)] = 2
    fast_idle_s: Annotated[float, Meta(gt=0)] = 900.0
    deep_idle_s: Annotated[float, Meta(gt=0)] = 300.0
    deep_floor_gb: Annotated[float, Meta(ge=0)] = 6.0


@dataclass(frozen=True, slots=True)
class Settings:
    """`linger_s`: end so long after the last client left; None: never. `unless_running`: hand over to a server that runs."""

    port: int = 0
    json: bool = False
    linger_s: float | None = None
    unless_running: bool = False
    engine: Literal["llama", "null"] = "llama"
    models: Path = Path()
    runtime: Path = Path()
    fast: Choice = FAST_MODEL
    deep: Choice = DEEP_MODEL
    quiet: bool = False
    engines: EngineSettings = field(default_factory=EngineSettings)


def load(arguments: list[str]) -> Settings:
    """OFFHOOK_CONFIG, _RUNTIME_DIR, _DATA_DIR and _MODELS_DIR say where files are; what is given on the command line or in
    the environment goes before what the file says. Exits on a wrong argument. Raises UserError for a wrong file."""
    file = _SettingsFile.find(os.environ)
    parser = argparse.ArgumentParser(
        prog="offhook serve",
        description="The local server: one port, loopback only.",
        epilog=f"More can be set in {file.path}; OFFHOOK_CONFIG names another file.",
    )
    parser.add_argument("--port", type=_port, default=0, help="0, the default, is any free port")
    parser.add_argument("--json", action="store_true", help="print one line of JSON when ready")
    parser.add_argument("--linger", type=float, metavar="S", help="end S seconds after the last client left")
    parser.add_argument(
        "--unless-running", action="store_true", help="if a server of yours runs, name that one and end"
    )
    parser.add_argument("--engine", choices=("llama", "null"), default="llama", help="null answers without a model")
    parser.add_argument("--model", type=Path, metavar="GGUF", help="a model file of your own, for the fast lane")
    parser.add_argument("--runtime", metavar="DIR", help="where the server says how it is reached")
    given = parser.parse_args(arguments)
    said = file.read()
    data = os.environ.get("OFFHOOK_DATA_DIR") or platformdirs.user_data_dir(APP)
    folder = _models_folder(said)
    return Settings(
        given.port,
        given.json,
        given.linger,
        given.unless_running,
        given.engine,
        models=folder,
        runtime=Path(given.runtime or runtime_folder(os.environ, data)),
        fast=given.model or file.choice("fast", said.models.fast, folder),
        deep=file.choice("deep", said.models.deep, folder),
        quiet=said.quiet,
        engines=said.engines,
    )


def models_folder() -> Path:
    """Where model files are kept. Raises UserError for a wrong settings file."""
    return _models_folder(_SettingsFile.find(os.environ).read())


def _models_folder(said: "_Said") -> Path:
    named = os.environ.get("OFFHOOK_MODELS_DIR") or said.models.folder
    return Path(named or f"{platformdirs.user_cache_dir(APP)}/models").expanduser()


# -- the settings file ------------------------------------------------------------------------------------------------


class _PlaceTable(Struct, frozen=True, forbid_unknown_fields=True):
    url: str
    model: str = ""
    key_env: str = ""
    fim: Fim | None = None
    insecure: bool = False


class _ModelsTable(Struct, frozen=True, forbid_unknown_fields=True):
    folder: str = ""
    fast: str | _PlaceTable = FAST_MODEL
    deep: str | _PlaceTable = DEEP_MODEL


class _Said(Struct, frozen=True, forbid_unknown_fields=True):
    quiet: bool = False
    models: _ModelsTable = _ModelsTable()
    engines: EngineSettings = EngineSettings()


@dataclass(frozen=True, slots=True)
class _SettingsFile:
    """`wanted`: the person named this very file, so it has to be there."""

    path: Path
    wanted: bool
    environment: Mapping[str, str]

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> "_SettingsFile":
        path = Path(settings_file(environment, platformdirs.user_config_dir(APP)))
        return cls(path, bool(environment.get("OFFHOOK_CONFIG")), environment)

    def read(self) -> _Said:
        """Raises UserError."""
        text = self._text()
        try:
            return msgspec.convert(tomllib.loads(text), _Said)
        except tomllib.TOMLDecodeError as e:
            raise UserError(f"{self.path.name} is not valid TOML: {e}.") from None
        except msgspec.ValidationError as e:
            raise self._wrong(*_fault(str(e))) from None

    def choice(self, role: str, said: str | _PlaceTable, folder: Path) -> Choice:
        """`folder`: of the models. Raises UserError."""
        key = f"models.{role}"
        if isinstance(said, _PlaceTable):
            if not re.match(r"https?://[^/\s]", said.url):
                raise self._wrong(f"{key}.url", "expected an address that begins with http:// or https://")
            api_key = self.environment.get(said.key_env, "") if said.key_env else ""
            return Place(said.url.rstrip("/"), said.model, said.key_env, said.fim, said.insecure, api_key)
        if said.lower().endswith(".gguf"):
            return self.path.parent / Path(said).expanduser()
        if path := self._own(folder).get(said):
            return Path(path)
        if said not in _built_in():
            names = ", ".join(_built_in())
            raise self._wrong(key, f"expected the path of a .gguf file, a table with an url, or one of {names}")
        return said

    def _own(self, folder: Path) -> dict[str, str]:
        """Where the models are that `offhook models add` has remembered."""
        try:
            return {
                name: model["path"] for name, model in tomllib.loads((folder / "own.toml").read_text("utf-8")).items()
            }
        except FileNotFoundError:
            return {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, LookupError, TypeError):
            raise UserError("own.toml in the models' folder is damaged. Mend it or remove it.") from None

    def _text(self) -> str:
        """Empty where there is no file and none was asked for."""
        try:
            return self.path.read_text("utf-8")
        except FileNotFoundError:
            if self.wanted:
                raise UserError(
                    f"OFFHOOK_CONFIG names {self.path.name}, which is not there; write it or unset it."
                ) from None
            return ""
        except (OSError, UnicodeDecodeError):
            raise UserError(
                f"{self.path.name} can't be read as text in UTF-8; look at its owner and encoding."
            ) from None

    def _wrong(self, key: str, reason: str) -> UserError:
        return UserError(f"{self.path.name}, line {_line_of(self._text(), key)}: {key}: {reason}.")


def _built_in() -> list[str]:
    return list(tomllib.loads(files("offhook_resources").joinpath("models.toml").read_text("utf-8")))


def _fault(message: str) -> tuple[str, str]:
    """Key and reason in words of msgspec's "Expected `int`, got `str` - at `$.engines.threads`"."""
    reason, _, place = message.replace("`", "").partition(" - at $")
    if unknown := re.fullmatch(r"Object contains unknown field (\S+)", reason):
        return f"{place}.{unknown[1]}".lstrip("."), "there is no such setting"
    if reason.startswith("Invalid enum value"):
        reason = f"expected one of {', '.join(get_args(Fim))}"
    return place.lstrip("."), reason[0].lower() + reason[1:]


def _line_of(text: str, key: str) -> int:
    """The line, from 1, of a key such as "models.deep.url", or of the nearest thing it stands in."""
    table, found = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        pair = re.match(r"\s*([\w.-]+)\s*=", line)
        if header:
            table = f"{header[1].strip()}."
        named = table[:-1] if header else table + pair[1] if pair else None
        if named and f"{key}.".startswith(f"{named}."):
            found = number
    return found


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is 0 to 65535")
    return port
