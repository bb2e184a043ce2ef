"""`offhook chat QUESTION`: one typed question in the terminal, by the same machine as the window's conversation."""

import argparse
import asyncio
import signal
import sys
from time import monotonic

from offhook_app import settings
from offhook_app.cli.place import language_of, parse
from offhook_app.state.context import Context, OpenText, context_of
from offhook_app.state.conversation import Action, Conversation, Send, Show
from offhook_app.state.exchange import Exchange, state_words
from offhook_app.state.line_state import LineState
from offhook_app.transport.line_driver import LineDriver
from offhook_app.transport.server_process import ServerProcess
from offhook_wire.messages import ServerEvent, ServerStatus
from offhook_wire.privacy import never_sent

TRIES = 3  # to get on the line
STOPPED = 130
NO_DEEP = "The deep model is not here, so the small one answers; `offhook models fetch deep` fetches it."


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="offhook chat", description="Asks the deep model, and streams its answer.")
    parser.add_argument("question", nargs="?", help="left out: read from standard input")
    parser.add_argument("--file", metavar="PATH[:LINE]", help="goes along: the file, or the lines around LINE")
    given = parser.parse_args(arguments)
    question = (given.question or sys.stdin.read()).strip()
    if not question:
        return _fail("there is no question")
    try:
        context = _context(given.file) if given.file else None
    except UnicodeDecodeError:
        return _fail("the file is not UTF-8 text")
    except (OSError, ValueError) as e:
        return _fail(str(e))
    return asyncio.run(_ask(question, context))


def _context(named: str) -> Context | None:
    """Raises OSError, ValueError."""
    place = parse(named)
    if never_sent(str(place.path)):
        raise ValueError(f"{place.path.name} is never sent")
    lines = place.path.read_text("utf-8-sig").split("\n")
    line = min(place.point.line, len(lines) - 1) if place.point else 0
    return context_of(
        OpenText(place.path.name, language_of(place.path), lines, line), "near" if place.point else "file"
    )


async def _ask(question: str, context: Context | None) -> int:
    chat = Chat()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, chat.stop)
    return await chat.run(question, context)


def _fail(reason: str) -> int:
    _tell(f"offhook chat: {reason}")
    return 1


def _tell(words: str) -> None:
    print(words, file=sys.stderr)


class Chat:
    """One question. The answer goes to standard output as it comes, how it stands to standard error."""

    def __init__(self) -> None:
        self._conversation = Conversation()
        self._line = LineDriver(ServerProcess(settings.load()), self._deliver, self._changed)
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._server: ServerStatus | None = None
        self._printed = 0
        self._told = ""

    async def run(self, question: str, context: Context | None) -> int:
        self._perform(self._conversation.ask(question, context, monotonic()))
        await self._line.start()
        try:
            return await self._over
        finally:
            await self._line.stop()

    def stop(self) -> None:
        self._end(STOPPED)
        self._perform(self._conversation.stop(monotonic()))

    def _changed(self, state: LineState) -> None:
        if state.kind == "waiting" and state.detail and state.attempt >= TRIES:
            self._end(_fail(state.detail))
        self._perform(self._conversation.line(state, monotonic()))

    def _deliver(self, event: ServerEvent) -> None:
        if isinstance(event, ServerStatus):
            if self._server is None and any(m.role == "deep" and m.state == "absent" for m in event.models):
                _tell(NO_DEEP)
            self._server = event
            self._say_how_it_stands()
        self._perform(self._conversation.received(event, monotonic()))

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Send(message):
                    self._line.send(message)
                case Show(exchange):
                    self._show(exchange)
                case _:
                    pass  # nothing is kept of it
        self._say_how_it_stands()

    def _show(self, exchange: Exchange) -> None:
        print(exchange.answer[self._printed :], end="", flush=True)
        self._printed = len(exchange.answer)
        if exchange.running:
            return
        if exchange.answer:
            print()
        if exchange.note:
            _tell(exchange.note)
        self._end(0 if exchange.stage in ("done", "long") else 1)

    def _say_how_it_stands(self) -> None:
        running = self._conversation.running
        words = state_words(running, self._server) if running and not running.answer else ""
        if words not in ("", self._told, "thinking"):
            self._told = words
            _tell(f"({words})")

    def _end(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)
