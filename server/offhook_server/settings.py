"""What can be set from outside, read once at start. The only place that reads the environment."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from offhook_wire.places import runtime_folder

APP = "offhook"


@dataclass(frozen=True, slots=True)
class Settings:
    """`linger_s`: end so long after the last client left; None: never. `unless_running`: hand over to a server that runs."""

    port: int = 0
    json: bool = False
    linger_s: float | None = None
    unless_running: bool = False
    engine: Literal["llama", "null"] = "llama"
    model: Path | None = None
    models: Path = Path()
    runtime: Path = Path()


def load(arguments: list[str]) -> Settings:
    """From the command line; OFFHOOK_RUNTIME_DIR, _DATA_DIR and _MODELS_DIR say where files are. Exits on a wrong argument."""
    parser = argparse.ArgumentParser(prog="offhook serve", description="The local server: one port, loopback only.")
    parser.add_argument("--port", type=_port, default=0, help="0, the default, is any free port")
    parser.add_argument("--json", action="store_true", help="print one line of JSON when ready")
    parser.add_argument("--linger", type=float, metavar="S", help="end S seconds after the last client left")
    parser.add_argument(
        "--unless-running", action="store_true", help="if a server of yours runs, name that one and end"
    )
    parser.add_argument("--engine", choices=("llama", "null"), default="llama", help="null answers without a model")
    parser.add_argument("--model", type=Path, metavar="GGUF", help="a model file of your own")
    parser.add_argument("--runtime", metavar="DIR", help="where the server says how it is reached")
    given = parser.parse_args(arguments)
    data = os.environ.get("OFFHOOK_DATA_DIR") or platformdirs.user_data_dir(APP)
    runtime = given.runtime or runtime_folder(os.environ, data)
    models = os.environ.get("OFFHOOK_MODELS_DIR") or str(Path(platformdirs.user_cache_dir(APP)) / "models")
    return Settings(
        given.port,
        given.json,
        given.linger,
        given.unless_running,
        given.engine,
        given.model,
        Path(models),
        Path(runtime),
    )


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is 0 to 65535")
    return port
