"""The line as the window sees it: a QObject whose loop runs in one plain asyncio thread. Between them only frozen values.

To the loop by `call_soon_threadsafe`, to the GUI through an inbox that one queued signal empties: a signal queued to each
receiver costs a key more than what they do with it. The GUI never does network.
"""

import asyncio
import sys
import threading
from collections import deque

from PySide6.QtCore import QObject, Signal

from offhook_app.state.line_meter import LineFigures
from offhook_app.state.line_state import LineState
from offhook_app.transport.line_driver import LineDriver, Server
from offhook_wire.messages import ClientEvent, ServerEvent, Suggest

SWITCH_INTERVAL_S = 0.001  # a GUI that burns Python delays this thread less
MOST_PENDING = 1024
STOP_LIMIT_S = 5.0


class Line(QObject):
    received = Signal(object)  # not `event`: that is QObject's own
    state = Signal(object)
    _arrived = Signal()

    def __init__(self, server: Server, workspace_folders: list[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loop = asyncio.new_event_loop()
        self._inbox: deque[ServerEvent | LineState] = deque()
        self._told = False  # that there is something in it
        self._arrived.connect(self._hand_on)
        self._driver = LineDriver(server, self._put, self._put, workspace_folders)
        self._stopping = asyncio.Event()
        self._pending = 0
        self._thread = threading.Thread(target=self._run, name="line", daemon=True)

    @property
    def figures(self) -> LineFigures:
        return self._driver.figures

    def start(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(STOP_LIMIT_S)

    def send(self, message: ClientEvent) -> None:
        """Never blocks. Over MOST_PENDING waiting messages a suggestion is dropped: it would be stale by its turn."""
        if self._pending > MOST_PENDING and isinstance(message, Suggest):
            return
        self._pending += 1
        self._loop.call_soon_threadsafe(self._pass_on, message)

    def _pass_on(self, message: ClientEvent) -> None:
        self._pending -= 1
        self._driver.send(message)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        await self._driver.start()
        await self._stopping.wait()
        await self._driver.stop()

    def _put(self, said: ServerEvent | LineState) -> None:
        """In the line's thread."""
        self._inbox.append(said)
        if not self._told:
            self._told = True
            self._arrived.emit()

    def _hand_on(self) -> None:
        """In the GUI's, in the order they came."""
        self._told = False
        while self._inbox:
            said = self._inbox.popleft()
            (self.state if isinstance(said, LineState) else self.received).emit(said)
