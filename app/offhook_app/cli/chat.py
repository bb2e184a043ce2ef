"""`offhook chat QUESTION`: one typed question in the terminal, by the same machine as the window's conversation."""

import argparse
import asyncio
import os
import sys
from dataclasses import replace
from time import monotonic

from msgspec import structs

from offhook_app import settings
from offhook_app.cli.place import language_of, parse
from offhook_app.state.context import Context, OpenText, context_of
from offhook_app.state.conversation import Action, Conversation, Send, Show
from offhook_app.state.exchange import Exchange, state_words
from offhook_app.state.line_state import LineState
from offhook_app.state.models import Role
from offhook_app.transport.line_driver import LineDriver
from offhook_app.transport.server_process import ServerProcess
from offhook_wire.messages import ServerEvent, ServerStatus
from offhook_wire.responses import ResponseCreate

TRIES = 3  # to get on the line
STOPPED = 130
NO_DEEP = "The deep model is not here, so the small one answers; `offhook models fetch deep` fetches it."
PLAIN = dict.fromkeys({*range(32), *range(127, 160)} - set(map(ord, "\t\n")))  # an answer commands no terminal


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="offhook chat", description="Asks a model, and streams its answer.")
    parser.add_argument("question", nargs="?", help="left out: read from standard input")
    parser.add_argument(
        "--file", metavar="PATH[:LINE[-LINE]]", help="goes along: the file, the lines around LINE, or these lines"
    )
    parser.add_argument("--model", choices=("deep", "fast"), default="deep", help="who answers; deep is the default")
    given = parser.parse_args(arguments)
    try:
        question = (given.question or sys.stdin.read()).strip()
        context = _context(given.file) if given.file else None
        return asyncio.run(_ask(question, context, given.model)) if question else _fail("there is no question")
    except UnicodeDecodeError:
        return _fail("what goes along is not UTF-8 text")
    except (OSError, ValueError) as e:
        return _fail(str(e))
    except KeyboardInterrupt:
        return STOPPED


def _context(named: str) -> Context | None:
    """Raises OSError, ValueError."""
    place = parse(named)
    if place.never_sent:
        raise ValueError(f"{place.path.name} is never sent")
    lines = place.path.read_text("utf-8-sig").split("\n")
    opened = OpenText(place.path.name, language_of(place.path), lines)
    if place.point is None:
        return context_of(opened, "file")
    if place.point.line >= len(lines):
        raise ValueError(f"{place.path.name} has {len(lines)} lines")
    first = place.point.line
    if place.last_line is None:
        return context_of(replace(opened, caret_line=first), "near")
    return context_of(replace(opened, selected=(first, min(place.last_line, len(lines) - 1))), "near")


async def _ask(question: str, context: Context | None, model: Role) -> int:
    return await Chat(model).run(question, context)


def _fail(reason: str) -> int:
    _tell(f"offhook chat: {reason}")
    return 1


def _tell(words: str) -> None:
    print(words, file=sys.stderr)


class Chat:
    """One question. The answer goes to standard output as it comes, how it stands to standard error."""

    def __init__(self, model: Role) -> None:
        self._model: Role = model
        self._conversation = Conversation()
        self._line = LineDriver(ServerProcess(settings.load()), self._deliver, self._changed)
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._server: ServerStatus | None = None
        self._printed = 0
        self._told: set[str] = {"", "thinking"}  # the terminal waits with the person: that needs no word

    async def run(self, question: str, context: Context | None) -> int:
        self._perform(self._conversation.ask(question, context, monotonic()))
        await self._line.start()
        try:
            return await self._over
        except asyncio.CancelledError:  # Ctrl C
            self._perform(self._conversation.stop(monotonic()))
            raise
        finally:
            await self._line.stop()

    def _changed(self, state: LineState) -> None:
        if state.kind == "waiting" and state.detail and state.attempt >= TRIES:
            self._end(_fail(state.detail))
        self._perform(self._conversation.line(state, monotonic()))

    def _deliver(self, event: ServerEvent) -> None:
        if isinstance(event, ServerStatus):
            self._server = event
        self._perform(self._conversation.received(event, monotonic()))

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Send(ResponseCreate() as create):
                    self._line.send(structs.replace(create, model=self._model))
                case Send(message):
                    self._line.send(message)
                case Show(exchange):
                    self._show(exchange)
                case _:
                    pass  # nothing is kept of it
        self._say_how_it_stands()

    def _show(self, exchange: Exchange) -> None:
        self._print(exchange.answer[self._printed :].translate(PLAIN))
        self._printed = len(exchange.answer)
        if exchange.running:
            return
        if exchange.answer:
            self._print("\n")
        if exchange.note:
            _tell(exchange.note)
        self._end(0 if exchange.stage in ("done", "long") else 1)

    def _print(self, text: str) -> None:
        try:
            print(text, end="", flush=True)
        except BrokenPipeError:  # nobody reads on; what is buffered must not be tried again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._end(1)

    def _say_how_it_stands(self) -> None:
        running = self._conversation.running
        if running is None or running.answer:
            return
        role = self._answering()
        if role != self._model:
            self._tell_once(NO_DEEP)
        self._tell_once(state_words(running, self._server, role))

    def _answering(self) -> Role:
        """The small model in the place of a deep one that is not here; nobody says so over HTTP."""
        models = self._server.models if self._server else []
        here = {model.role for model in models if model.state not in ("absent", "downloading")}
        return "fast" if "fast" in here and "deep" not in here else self._model

    def _tell_once(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            _tell(words)

    def _end(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)
