"""The process that a model runs in: frames of `backends.base` over an inherited socket. It decides nothing.

    python -m offhook_server.models.worker --fd N --engine llama --model PATH

It ends at once when the socket closes, also in the middle of a prompt, so that no orphan survives its server. A bug in
an engine ends it too: the server sees the socket close, fails the requests in flight and starts a new worker.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn, cast

import msgspec

from offhook_server.backends.base import Cancel, Engine, Failed, Finished, Generate, Hello, Piece, Ready, ToWorker
from offhook_server.errors import BackendError
from offhook_wire.frames import FrameTooLong, Unpacker, pack

READ_BYTES = 64 * 1024
CUT_OFF = 0  # exit codes
LOAD_FAILED = 3
BUG = 4


def _null(model: Path | None, options: dict[str, Any]) -> Engine:
    from offhook_server.backends.null import NullEngine

    return NullEngine(**options)


def _llama(model: Path | None, options: dict[str, Any]) -> Engine:
    from offhook_server.backends.llama import LlamaEngine

    if model is None:
        raise BackendError("The llama engine needs a model file.")
    return LlamaEngine(model, **options)


ENGINES: dict[str, Callable[[Path | None, dict[str, Any]], Engine]] = {"null": _null, "llama": _llama}


class Channel:
    """The socket to the server. A message that cannot be sent ends the process: nobody is left to work for."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._sending = threading.Lock()

    def send(self, message: msgspec.Struct) -> None:
        frame = pack(message)
        with self._sending:
            try:
                self._connection.sendall(frame)
            except OSError:
                leave(CUT_OFF)

    def serve(self, on_message: Callable[[ToWorker], None]) -> NoReturn:
        """Reads until the server is gone or talks nonsense, then ends the process."""
        unpacker = Unpacker(cast("type[ToWorker]", ToWorker))
        try:
            while data := self._connection.recv(READ_BYTES):
                for message in unpacker.feed(data):
                    on_message(message)
        except (OSError, FrameTooLong, msgspec.DecodeError):
            pass
        leave(CUT_OFF)


def leave(code: int) -> NoReturn:
    """No clean-up: native threads would hold it up for as long as a batch takes."""
    os._exit(code)


class Ticket:
    """The `Emit` of one request."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._cancelled = threading.Event()

    def __call__(self, piece: Piece) -> bool:
        if not self._cancelled.is_set():
            self._channel.send(piece)
        return self._cancelled.is_set()

    def wait(self, seconds: float | None) -> bool:
        return self._cancelled.wait(seconds)

    def cancel(self) -> None:
        self._cancelled.set()


class Worker:
    """Lives on two kinds of threads: the one that reads calls `on_message`, and each request has its own."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._engine: Engine | None = None
        self._ready: Ready | None = None
        self._tickets: dict[int, Ticket] = {}

    def load(self, factory: Callable[[], Engine]) -> None:
        """Ends the process when the engine cannot be made, after a last word."""
        started = perf_counter()
        try:
            engine = factory()
        except BackendError as e:
            self._channel.send(Failed(None, str(e)))
            leave(LOAD_FAILED)
        self._engine = engine
        self._ready = Ready(engine.name, engine.model, engine.slots, (perf_counter() - started) * 1000)
        self._channel.send(self._ready)

    def on_message(self, message: ToWorker) -> None:
        match message:
            case Generate():
                self._start(message)
            case Cancel():
                if ticket := self._tickets.get(message.id):
                    ticket.cancel()
            case Hello():
                if self._ready:
                    self._channel.send(self._ready)

    def _start(self, request: Generate) -> None:
        if self._engine is None:
            self._channel.send(Failed(request.id, "The model is still loading; ask again.", retryable=True))
            return
        ticket = self._tickets[request.id] = Ticket(self._channel)
        threading.Thread(target=self._generate, args=(self._engine, request, ticket), daemon=True).start()

    def _generate(self, engine: Engine, request: Generate, ticket: Ticket) -> None:
        last: Finished | Failed
        try:
            last = engine.generate(request, ticket)
        except BackendError as e:
            last = Failed(request.id, str(e), e.retryable)
        del self._tickets[request.id]
        self._channel.send(last)


def lower_session(nice: int) -> None:
    """Linux may share the processor among sessions first (sched_autogroup, sched(7)); this process leads one, so its own
    niceness counts only against itself."""
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(nice))


def main() -> None:
    parser = argparse.ArgumentParser(prog="offhook-worker", description=__doc__)
    parser.add_argument("--fd", type=int, required=True, help="the socket to the server")
    parser.add_argument("--engine", choices=ENGINES, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--nice", type=int, default=0, help="how far the engine's priority is lowered")
    parser.add_argument("--options", type=json.loads, default={}, help="keyword arguments of the engine, as JSON")
    arguments = parser.parse_args()

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server, which closes the socket
    threading.excepthook = lambda bug: leave(BUG)
    channel = Channel(socket.socket(fileno=arguments.fd))
    worker = Worker(channel)
    threading.Thread(target=channel.serve, args=(worker.on_message,), daemon=True).start()
    # Only this thread and what the engine starts from it (on Linux): the threads that carry a cancel to the engine must
    # win the short moment between two batches, or the engine computes one more for nothing.
    os.nice(arguments.nice)
    lower_session(arguments.nice)
    worker.load(lambda: ENGINES[arguments.engine](arguments.model, arguments.options))
    threading.Event().wait()


if __name__ == "__main__":
    main()
