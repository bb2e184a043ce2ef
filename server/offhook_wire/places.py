"""Where both sides look for each other, and for what the person set, on the disk. Only the rule; nothing here touches a disk."""

from collections.abc import Mapping


def runtime_folder(environment: Mapping[str, str], data_folder: str) -> str:
    """The folder of `server.json` and `token`, for this user alone: of the login session where there is one."""
    own = environment.get("OFFHOOK_RUNTIME_DIR")
    session = environment.get("XDG_RUNTIME_DIR")
    return own or (f"{session}/offhook" if session else f"{data_folder}/run")


def settings_file(environment: Mapping[str, str], config_folder: str) -> str:
    return environment.get("OFFHOOK_CONFIG") or f"{config_folder}/config.toml"
