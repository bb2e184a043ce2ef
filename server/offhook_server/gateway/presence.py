"""How this user's programs find the server: `server.json` and `token` in the runtime folder, both for the user alone.

One server at a time is the one that is found (it holds the lock); others may run beside it, with the same token.
"""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from offhook_server.errors import UserError


@dataclass(frozen=True, slots=True)
class Found:
    base_url: str
    pid: int


class Presence:
    def __init__(self, runtime: Path) -> None:
        self._runtime = runtime
        self._lock = FileLock(runtime / "server.lock")

    def token(self) -> str:
        """The user's key, made on first use. Raises UserError where the folder can't be written."""
        path = self._runtime / "token"
        try:
            self._runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(secrets.token_urlsafe(32))
            except FileExistsError:
                path.chmod(0o600)
            return path.read_text().strip()
        except OSError as e:
            raise UserError(f"The runtime folder can't be used ({e.strerror}); set OFFHOOK_RUNTIME_DIR.") from None

    def claim(self) -> bool:
        """Whether this server is now the one that is found."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        return True

    def announce(self, base_url: str) -> None:
        new = self._runtime / f"server.json.{os.getpid()}"
        new.write_text(json.dumps({"base_url": base_url, "pid": os.getpid()}))
        new.replace(self._runtime / "server.json")

    def other(self) -> Found | None:
        """The server that holds the lock, once it has said where it is."""
        try:
            said = json.loads((self._runtime / "server.json").read_text())
            return Found(said["base_url"], said["pid"])
        except (OSError, ValueError, KeyError):
            return None

    def leave(self) -> None:
        if self._lock.is_locked:
            (self._runtime / "server.json").unlink(missing_ok=True)
            self._lock.release()
