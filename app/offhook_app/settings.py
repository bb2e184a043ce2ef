"""What can be set from outside, read once at start. The only place that reads the environment."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from offhook_wire import places

APP = "offhook"


@dataclass(frozen=True, slots=True)
class Settings:
    """`runtime`: where the server says how it is reached. `data`: drafts, conversations. `server_arguments`: more for `serve`."""

    runtime: Path
    data: Path
    server_arguments: tuple[str, ...] = ()
    linger_s: float = 60.0


def load() -> Settings:
    """OFFHOOK_RUNTIME_DIR, OFFHOOK_DATA_DIR and OFFHOOK_SERVER_ARGS (split at blanks) take precedence."""
    environment = os.environ
    data = environment.get("OFFHOOK_DATA_DIR") or platformdirs.user_data_dir(APP)
    runtime = places.runtime_folder(environment, data)
    arguments = tuple(environment.get("OFFHOOK_SERVER_ARGS", "").split())
    return Settings(Path(runtime), Path(data), arguments, float(environment.get("OFFHOOK_LINGER_S", "60")))


def settings_file() -> Path:
    """The person's own, which the server reads."""
    return Path(places.settings_file(os.environ, platformdirs.user_config_dir(APP)))


def wants_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("QT_QPA_PLATFORM"))
