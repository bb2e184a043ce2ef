"""Where both sides look for each other on the disk. Only the rule; nothing here touches a disk."""

from collections.abc import Mapping


def runtime_folder(environment: Mapping[str, str], data_folder: str) -> str:
    """The folder of `server.json` and `token`, for this user alone: of the login session where there is one."""
    own = environment.get("OFFHOOK_RUNTIME_DIR")
    session = environment.get("XDG_RUNTIME_DIR")
    return own or (f"{session}/offhook" if session else f"{data_folder}/run")
