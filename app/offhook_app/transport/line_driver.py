"""Drives the line machine with one real WebSocket, in plain asyncio. Knows nothing of Qt; the terminal uses it too.

One input at a time (a message of the app, a frame, a due deadline), then all actions, then sleep until the deadline.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, Literal, Protocol, assert_never

import aiohttp
from msgspec import structs

from offhook_app.state.line_meter import LineFigures, LineMeter
from offhook_app.state.line_state import LineKind, LineState
from offhook_app.transport.server_process import Endpoint, ServerMissing
from offhook_wire import codec
from offhook_wire.line import (
    Action,
    AskByHttp,
    Connect,
    Deliver,
    Disconnect,
    Line,
    QuestionByHttp,
    State,
    StopHttp,
    StopQuestion,
    Transmit,
)
from offhook_wire.messages import ClientEvent, Pong, ServerEvent

SLOW_MS = 150.0
MOST_FRAME_BYTES = 8 * 1024 * 1024
ANSWER_LIMITS = aiohttp.ClientTimeout(total=None, sock_connect=2.0)  # an answer may take its time
Socket = aiohttp.ClientWebSocketResponse[Literal[False]]  # its frames stay bytes


class Server(Protocol):
    async def endpoint(self) -> Endpoint:
        """Raises ServerMissing."""
        ...


class LineDriver:
    """`deliver` gets every event of the server, `changed` every new state of the line; both in this loop's thread."""

    def __init__(
        self,
        server: Server,
        deliver: Callable[[ServerEvent], None],
        changed: Callable[[LineState], None],
        workspace_folders: list[str] | None = None,
    ) -> None:
        self._server = server
        self._deliver = deliver
        self._changed = changed
        self._machine = Line(workspace_folders)
        self._meter = LineMeter()
        self._said: LineState | None = None
        self._detail = ""
        self._http: aiohttp.ClientSession | None = None
        self._socket: Socket | None = None
        self._endpoint: Endpoint | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._questioning: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._outgoing: asyncio.Queue[tuple[Socket, bytes]] = asyncio.Queue()

    async def start(self) -> None:
        self._http = aiohttp.ClientSession()
        self._spawn(self._write())
        self._perform(self._machine.start())

    async def stop(self) -> None:
        """Says what is still to be said, then closes; nothing of this driver is left behind."""
        self._perform(self._machine.stop())
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._http:
            await self._http.close()

    def send(self, message: ClientEvent) -> None:
        self._perform(self._machine.send(message))

    @property
    def figures(self) -> LineFigures:
        """May be read in any thread."""
        return self._meter.figures

    # -- the loop ---------------------------------------------------------------------------------------------------

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _perform(self, actions: list[Action]) -> None:
        for action in actions:
            self._do(action)
        if self._timer:
            self._timer.cancel()
            self._timer = None
        deadline = self._machine.deadline
        if deadline is not None:
            self._timer = asyncio.get_running_loop().call_at(deadline, self._tick)
        self._tell()

    def _do(self, action: Action) -> None:
        match action:
            case Connect():
                self._connecting = self._spawn(self._connect())
            case Transmit(frame=frame):
                if self._socket:
                    self._outgoing.put_nowait((self._socket, frame))
            case Disconnect():
                self._disconnect()
            case AskByHttp() | StopHttp() | QuestionByHttp() | StopQuestion():
                self._do_by_http(action)
            case Deliver(event=event):
                if isinstance(event, Pong):
                    self._meter.pong(event, self._now * 1e3)
                self._deliver(event)
            case _:
                assert_never(action)

    def _tick(self) -> None:
        self._timer = None
        self._perform(self._machine.tick(self._now, random.random()))

    def _tell(self) -> None:
        state = self._state()
        if state != self._said:
            self._said = state
            self._changed(state)

    def _state(self) -> LineState:
        machine = self._machine
        retry_in = None if machine.retry_at is None else max(0.0, machine.retry_at - self._now)
        kind: LineKind
        match machine.state:
            case State.CLOSED:
                kind = "closed"
            case State.CONNECTING | State.GREETING if machine.by_http:
                return LineState("http", None, None, 0, self._detail)  # the WebSocket is tried again meanwhile
            case State.CONNECTING:
                kind = "connecting" if self._endpoint else "starting"
            case State.GREETING:
                kind = "connecting"
            case State.OPEN:
                kind = "slow" if (machine.round_trip_ms or 0.0) > SLOW_MS else "open"
            case State.WAITING:
                return LineState("waiting", None, retry_in, machine.attempt, self._detail)
            case State.HTTP:
                return LineState("http", None, None, 0, self._detail)
            case _:
                assert_never(machine.state)
        return LineState(kind, machine.round_trip_ms, None, machine.attempt, self._detail)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- the socket -------------------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        assert self._http is not None
        if not self._machine.by_http:
            self._detail = ""
        try:
            self._endpoint = await self._server.endpoint()
        except ServerMissing as e:
            self._detail = str(e)
            self._lost()
            return
        self._perform(self._machine.dialling(self._now))
        url = self._endpoint.base_url.replace("http", "ws", 1) + "/responses"
        try:
            socket = await self._http.ws_connect(
                url, headers=_bearer(self._endpoint), compress=0, max_msg_size=MOST_FRAME_BYTES, decode_text=False
            )
        except aiohttp.WSServerHandshakeError as e:
            if e.status == 401:
                self._detail = "The server's key changed."
                self._lost()
            else:
                self._detail = f"WebSocket refused ({e.status})"
                self._perform(self._machine.refused(self._now))
            return
        except (aiohttp.ClientError, OSError, TimeoutError):
            self._endpoint = None
            self._lost()
            return
        await self._read(socket)

    async def _read(self, socket: Socket) -> None:
        self._socket = socket
        self._meter.connected()
        try:
            self._perform(self._machine.opened(self._now))
            async for frame in socket:
                if frame.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    break
                self._meter.came(len(frame.data))
                self._perform(self._machine.receive(frame.data, self._now))
        except codec.BadFrame:
            self._detail = "The server sent something unreadable."
        finally:
            if self._socket is socket:
                self._socket = None
                self._lost()
            await socket.close()

    async def _write(self) -> None:
        while True:
            socket, frame = await self._outgoing.get()
            try:
                await socket.send_frame(frame, aiohttp.WSMsgType.TEXT)
                self._meter.sent(len(frame))
            except (aiohttp.ClientError, ConnectionError):
                continue  # the reader of that socket notices too, and says so

    def _lost(self) -> None:
        self._perform(self._machine.lost(self._now, random.random()))

    def _disconnect(self) -> None:
        self._socket = None
        task, self._connecting = self._connecting, None
        if task and task is not asyncio.current_task():
            task.cancel()

    # -- without a WebSocket ----------------------------------------------------------------------------------------

    def _do_by_http(self, action: AskByHttp | StopHttp | QuestionByHttp | StopQuestion) -> None:
        match action:
            case StopHttp():
                self._stop(self._asking)
            case AskByHttp():
                self._stop(self._asking)
                self._asking = self._spawn(self._ask_by_http(action))
            case QuestionByHttp():
                self._questioning = self._spawn(self._question_by_http(action))
            case StopQuestion():
                self._stop(self._questioning)
            case _:
                assert_never(action)

    def _stop(self, request: asyncio.Task[None] | None) -> None:
        if request:
            request.cancel()

    async def _ask_by_http(self, ask: AskByHttp) -> None:
        """One suggestion over one request, its events streamed back; closing it is the cancel."""
        assert self._http is not None
        assert self._endpoint is not None
        body = codec.encode({"document": ask.document, "suggest": ask.suggest})
        self._meter.sent(len(body))
        headers = {**_bearer(self._endpoint), "Content-Type": "application/json"}
        try:
            async with self._http.post(f"{self._endpoint.base_url}/offhook/suggest", data=body, headers=headers) as r:
                async for line in r.content:
                    self._meter.came(len(line))
                    if line.startswith(b"data: "):
                        event = codec.decode_server(line[6:].strip())
                        if event is not None:
                            self._deliver(event)
        except (aiohttp.ClientError, OSError, codec.BadFrame):
            self._lost()

    async def _question_by_http(self, question: QuestionByHttp) -> None:
        """One typed question over one request, its answer streamed back; closing it is the cancel."""
        assert self._http is not None
        assert self._endpoint is not None
        body = codec.encode({**structs.asdict(question.create), "stream": True})
        self._meter.sent(len(body))
        headers = {**_bearer(self._endpoint), "Content-Type": "application/json"}
        try:
            url = f"{self._endpoint.base_url}/responses"
            async with self._http.post(url, data=body, headers=headers, timeout=ANSWER_LIMITS) as r:
                if r.status != 200:
                    self._perform(self._machine.heard(await r.read(), r.status))
                async for line in r.content:
                    self._meter.came(len(line))
                    if line.startswith(b"data: {"):
                        self._perform(self._machine.heard(line[6:].strip()))
        except (aiohttp.ClientError, OSError, codec.BadFrame):
            self._perform(self._machine.broke_off(self._now, random.random()))


def _bearer(endpoint: Endpoint) -> dict[str, str]:
    return {"Authorization": f"Bearer {endpoint.token}"}
