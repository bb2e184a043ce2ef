"""`python -m offhook_server serve`: one process, until it is told to stop. `offhook serve` becomes this.

`plan` in its place prints as JSON what `serve` with the same arguments would put where; `offhook doctor` reads it.
"""

import asyncio
import faulthandler
import json
import logging
import signal
import sys
from typing import TextIO

import msgspec

from offhook_server import settings
from offhook_server.errors import UserError
from offhook_server.models.plan import plan
from offhook_server.wiring import Server


def main() -> int:
    faulthandler.enable()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    command = sys.argv[1:2]
    if command not in (["serve"], ["plan"]):
        sys.exit("usage: python -m offhook_server serve|plan [--json] [--port N]")
    as_json = command == ["plan"] or "--json" in sys.argv
    try:
        given = settings.load(sys.argv[2:])
    except UserError as e:
        _complain(e, as_json)
        return 2
    try:
        return asyncio.run(_serve(given)) if command == ["serve"] else _plan(given)
    except UserError as e:
        _complain(e, as_json)
        return 1


async def _serve(given: settings.Settings) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    server = Server(given, left=stop.set)
    other = await server.start()
    try:
        ready = {"event": "ready", "base_url": other or server.base_url, "token": server.token}
        _say(sys.stdout, given.json, ready, f"Offhook is on the line at {ready['base_url']}")
        if other is None:
            await stop.wait()
    finally:
        await server.close()
    return 0


def _plan(given: settings.Settings) -> int:
    sys.stdout.write(msgspec.json.encode(plan(given)).decode() + "\n")
    return 0


def _complain(error: UserError, as_json: bool) -> None:
    where = sys.stdout if as_json else sys.stderr
    _say(where, as_json, {"event": "error", "message": str(error)}, f"offhook serve: {error}")


def _say(where: TextIO, as_json: bool, event: dict[str, str], words: str) -> None:
    where.write((json.dumps(event) if as_json else words) + "\n")
    where.flush()


if __name__ == "__main__":
    sys.exit(main())
