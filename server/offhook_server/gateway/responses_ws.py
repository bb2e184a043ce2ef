"""Responses mode of one WebSocket: creates and cancels in, events out. Whose turn it is, `core.lanes` decides.

Each response is one task of the connection. `response.steer` is refused in its own words; `response.cancel` is not in
OpenAI's list, and is taken because clients send it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from offhook_server import metrics
from offhook_server.core import body
from offhook_server.core.create import Create, read_create
from offhook_server.core.lanes import Lanes, Start, lane_of
from offhook_server.core.response_store import ResponseStore
from offhook_server.core.responses import TERMINAL, Response
from offhook_server.errors import BackendError, PeerError
from offhook_server.gateway.services import Services
from offhook_server.gateway.turn import Event, Turn, begin, mistake, new_id, wall_s

log = logging.getLogger(__name__)


class _Route(Struct, frozen=True):
    """What an event says about its place, whatever else is wrong with it."""

    stream_id: Any = None
    response_id: Any = None
    previous_response_id: Any = None
    input: Any = None


_route = msgspec.json.Decoder(_Route)


class WebSocketResponses:
    def __init__(
        self, services: Services, store: ResponseStore, tasks: asyncio.TaskGroup, send: Callable[[Event], None]
    ) -> None:
        self._services = services
        self._store = store
        self._group = tasks
        self._send = send
        self._lanes = Lanes(services.limits)
        self._asked: dict[str, tuple[Create, str | None, float]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    def receive(self, kind: str, frame: bytes, received_at: float) -> None:
        """Answers what is wrong with an event; the connection goes on."""
        route, lane = _Route(), None
        try:
            route = body.read(_route, frame)
            lane = lane_of(route.stream_id)
            match kind:
                case "response.create":
                    self._create(read_create(frame), lane, received_at)
                case "response.cancel":
                    for stop in self._lanes.cancel(route.response_id, lane):
                        self._running[stop.response_id].cancel()
                case "response.steer":
                    self._send(_steering_refused(route))
                case _:
                    raise PeerError("There is no event of this type here.", code="unknown_event", param="type")
        except PeerError as fault:
            if kind == "response.create":
                self._lanes.refused(lane, route.previous_response_id)
            self._send(body.error_event(fault, lane))

    def close(self) -> None:
        """The socket has gone: so does everything that runs for it."""
        self._closed = True
        metrics.responses.labels(transport="websocket", status="abandoned").inc(len(self._running))
        for task in self._running.values():
            task.cancel()

    def _create(self, create: Create, lane: str | None, received_at: float) -> None:
        response_id = new_id("resp")
        starts = self._lanes.submit(response_id, lane, create.previous_response_id)
        self._asked[response_id] = (create, lane, received_at)
        self._perform(starts)

    def _perform(self, starts: list[Start]) -> None:
        waiting = deque(starts)
        while waiting:
            waiting.extend(self._begin(waiting.popleft()))

    def _begin(self, start: Start) -> list[Start]:
        """What may start besides, because this one has ended at once."""
        create, lane, received_at = self._asked.pop(start.response_id)
        response = Response(create, start.response_id, wall_s(), lane)
        try:
            turn = begin(self._services, self._store, create, response, start.parent)
        except PeerError as fault:
            self._send(body.error_event(fault, lane))
            return self._lanes.ended(start.response_id, None)
        self._send_all(response.started())
        if start.cancelled:
            self._send_all(response.cancelled())
            return self._ended(turn)
        task = self._group.create_task(self._run(turn, received_at))
        self._running[response.id] = task
        task.add_done_callback(lambda task: self._done(turn, task))
        return []

    async def _run(self, turn: Turn, received_at: float) -> None:
        waits_for_output = True
        try:
            async for event in turn.events():
                self._send(event)
                if waits_for_output:
                    waits_for_output = False
                    waited_s = self._services.clock() - received_at
                    metrics.first_output_seconds.labels(transport="websocket").observe(waited_s)
                if event["type"] in TERMINAL:
                    self._finish(turn)
        except BackendError as e:
            self._fail(turn, str(e))
        except Exception:
            log.exception("a response failed")
            self._fail(turn, str(mistake()))

    def _fail(self, turn: Turn, message: str) -> None:
        if not turn.response.ended:
            self._send_all(turn.response.failed(message))
            self._finish(turn)

    def _done(self, turn: Turn, task: asyncio.Task[None]) -> None:
        """A task that was cancelled before its first step never ran: so a cancel is answered here, not there."""
        del self._running[turn.response.id]
        if self._closed:
            return
        if task.cancelled() and not turn.response.ended:
            self._send_all(turn.response.cancelled())
            self._finish(turn)

    def _finish(self, turn: Turn) -> None:
        """In one step with its last event, so that the client never knows more than the lanes."""
        self._perform(self._ended(turn))

    def _ended(self, turn: Turn) -> list[Start]:
        metrics.responses.labels(transport="websocket", status=turn.response.status).inc()
        return self._lanes.ended(turn.response.id, turn.keep(self._store))

    def _send_all(self, events: list[Event]) -> None:
        for event in events:
            self._send(event)


def _steering_refused(route: _Route) -> Event:
    message = "Steering is not supported here. Cancel the response and create another."
    return {
        "type": "response.steer.failed",
        "sequence_number": 0,
        "error": {"type": "invalid_request_error", "code": "steering_not_supported", "message": message},
        "steer": {"input": route.input, "previous_response_id": route.previous_response_id},
    }
