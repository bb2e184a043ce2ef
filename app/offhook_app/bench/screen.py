"""A screen that nobody looks at, for the length of a bench: an Xvfb of our own. Not a window manager."""

import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

SIZE = "1600x1000x24"
LIMIT_S = 30.0


class NoScreen(Exception):
    """The text is a sentence that says how to mend it."""


@contextmanager
def screen() -> Iterator[str]:
    """The name of its display. Raises NoScreen."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SIZE, "-nolisten", "tcp", "-dpi", "96"]
    try:
        server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        os.close(reading)
        raise NoScreen("This bench needs Xvfb; `make test` installs it.") from None
    finally:
        os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], LIMIT_S)
        number = os.read(reading, 16).decode().strip() if ready else ""
        if not number:
            raise NoScreen("Xvfb did not come up; run the bench again.")
        yield f":{number}"
    finally:
        os.close(reading)
        server.terminate()
        server.wait(LIMIT_S)
