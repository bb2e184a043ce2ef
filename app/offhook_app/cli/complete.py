"""`offhook complete FILE:LINE:COL`: one suggestion in the terminal, through the same server and line as the window."""

import argparse
import asyncio
import sys

from offhook_app import settings
from offhook_app.cli.place import Place, language_of, parse
from offhook_app.editor.folder import folder_of
from offhook_app.state.line_state import LineState
from offhook_app.transport.line_driver import LineDriver
from offhook_app.transport.server_process import ServerProcess
from offhook_wire.messages import (
    DocumentDidOpen,
    ErrorEvent,
    Position,
    ServerEvent,
    ServerStatus,
    Suggest,
    SuggestionDone,
    TextDelta,
)
from offhook_wire.text import Point, Text

LIMIT_S = 120.0
REASONS = {
    "empty": "nothing likely here",
    "unsure": "nothing likely here",
    "no_model": "the model is not here; `offhook models fetch fast` fetches it",
    "failed": "the model failed",
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="offhook complete", description="Streams the suggestion for a place.")
    parser.add_argument("place", metavar="FILE:LINE:COL")
    given = parser.parse_args(arguments)
    try:
        place = parse(given.place)
        text = place.path.read_text("utf-8-sig")  # any line end is read as LF
    except UnicodeDecodeError:
        return _fail("the file is not UTF-8 text")
    except (OSError, ValueError) as e:
        return _fail(str(e))
    if place.never_sent:
        return _fail(f"{place.path.name} is never sent")
    try:
        return asyncio.run(_complete(place, text))
    except TimeoutError:
        return _fail("no answer within two minutes")
    except KeyboardInterrupt:
        return 130


async def _complete(place: Place, text: str) -> int:
    async with asyncio.timeout(LIMIT_S):
        return await Completion(place, text).run()


def _fail(reason: str) -> int:
    print(f"offhook complete: {reason}", file=sys.stderr)
    return 1


class Completion:
    """One question on the line. The first source that says something is printed; the exit code is 1 for silence."""

    def __init__(self, place: Place, text: str) -> None:
        self._path = place.path
        self._uri = place.path.resolve().as_uri()
        self._text = Text(text)
        point = place.point or self._text.end
        self._at = Point(min(point.line, self._text.end.line), point.column)
        folder = folder_of(place.path).resolve().as_uri()
        self._line = LineDriver(ServerProcess(settings.load()), self._deliver, self._changed, [folder])
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._item: str | None = None
        self._asked = False

    async def run(self) -> int:
        self._line.send(DocumentDidOpen(self._uri, language_of(self._path), 1, str(self._text), self._text.hash))
        await self._line.start()
        try:
            return await self._over
        finally:
            await self._line.stop()

    def _changed(self, state: LineState) -> None:
        if state.kind == "http":
            self._ask()
        elif state.kind == "waiting" and state.detail and state.attempt >= 3:
            self._end(_fail(state.detail))

    def _deliver(self, event: ServerEvent) -> None:
        match event:
            case ServerStatus(model="starting") | ServerStatus(model="downloading"):
                pass
            case ServerStatus():
                self._ask()
            case TextDelta(item_id=item) if self._item in (None, item):
                self._item = item
                print(event.delta, end="", flush=True)
            case SuggestionDone():
                self._done(event)
            case ErrorEvent():
                self._end(_fail(event.error.message))
            case _:
                pass

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            position = Position(self._at.line, self._text.units(self._at, "utf-16"))
            self._line.send(Suggest("q_1", self._uri, 1, position, trigger_kind="invoked"))

    def _done(self, done: SuggestionDone) -> None:
        if done.source != "small":
            return  # the small model has the last word, also where it says that it is not needed
        if self._item:
            print()
            self._end(0)
        else:
            self._end(_fail(REASONS.get(done.outcome, done.outcome)))

    def _end(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)
