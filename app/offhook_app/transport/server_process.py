"""Finds this user's server, or starts it. The server belongs to the user, not to this app: it is never ended from here.

A server that the app started ends by itself a minute after its last client left (`--linger`), so an app that is killed
leaves nothing behind; one that dies is found missing at the next connect and started anew.
"""

import asyncio
import json
import threading
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen

from offhook_app.settings import Settings
from offhook_wire import reentry

START_LIMIT_S = 20.0


class ServerMissing(Exception):
    """No server could be started; the text is a sentence for the status line."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    base_url: str
    token: str


class ServerProcess:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._starting = asyncio.Lock()

    async def endpoint(self) -> Endpoint:
        """Where the server is; starts one when none answers. Raises ServerMissing."""
        async with self._starting:
            found = self._found()
            if found and await _answers(found.base_url):
                return found
            return await self._start()

    def _found(self) -> Endpoint | None:
        try:
            said = json.loads((self._settings.runtime / "server.json").read_text())
            return Endpoint(said["base_url"], (self._settings.runtime / "token").read_text().strip())
        except (OSError, ValueError, KeyError):
            return None

    async def _start(self) -> Endpoint:
        command = reentry.command("offhook_server", "serve", "--json", "--port", "0", "--unless-running")
        command += ["--runtime", str(self._settings.runtime), "--linger", str(self._settings.linger_s)]
        command += [*self._settings.server_arguments]
        try:
            line = await asyncio.wait_for(asyncio.to_thread(self._first_line, command), START_LIMIT_S)
            said = json.loads(line)
        except (TimeoutError, ValueError):
            raise ServerMissing("The server did not start; `offhook serve` in a terminal says why.") from None
        if said.get("event") != "ready":
            raise ServerMissing(str(said.get("message", "The server did not start.")))
        return Endpoint(said["base_url"], said["token"])

    def _first_line(self, command: list[str]) -> bytes:
        """Not asyncio's subprocess: its transport would end the server together with this app."""
        process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, start_new_session=True)
        threading.Thread(target=process.wait, name="reaper", daemon=True).start()
        assert process.stdout is not None
        with process.stdout as output:
            return output.readline()


async def _answers(base_url: str) -> bool:
    """Whether anything listens there; a socket that is refused at once costs nothing."""
    host, port = base_url.removeprefix("http://").split("/")[0].rsplit(":", 1)
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 1.0)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
