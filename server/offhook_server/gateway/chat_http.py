"""/v1/chat/completions: for tools that know no other form. Keeps no state."""

import logging
from contextlib import aclosing

from aiohttp import web

from offhook_server import metrics
from offhook_server.backends.base import Generate, Model
from offhook_server.core import body, chat
from offhook_server.core.create import DEFAULT_OUTPUT_TOKENS
from offhook_server.errors import BackendError
from offhook_server.gateway.services import Services
from offhook_server.gateway.sse import EventStream
from offhook_server.gateway.turn import answered, backend_fault, mistake, new_id, wall_s

log = logging.getLogger(__name__)


class HttpChat:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def create(self, request: web.Request) -> web.StreamResponse:
        asked = chat.read_chat(await request.read())
        model, wanted = self._services.model(asked.model), _generate(asked)
        completion = chat.Completion(asked, new_id("chatcmpl"), wall_s())
        status = "abandoned"
        try:
            if asked.stream:
                answer, status = await _stream(request, model, wanted, completion)
                return answer
            async with aclosing(answered(model, wanted, completion)) as chunks:
                async for _ in chunks:
                    pass
            status = "completed"
            return web.json_response(completion.whole())
        except BackendError:
            status = "failed"
            raise
        finally:
            metrics.responses.labels(transport="chat", status=status).inc()


def _generate(asked: chat.Chat) -> Generate:
    return Generate(
        id=0,  # the model numbers its own requests
        messages=chat.messages(asked),
        tools=chat.tools(asked),
        tool_choice=asked.tool_choice,
        max_tokens=asked.max_completion_tokens or asked.max_tokens or DEFAULT_OUTPUT_TOKENS,
        temperature=asked.temperature,
        top_p=asked.top_p,
        stop=[asked.stop] if isinstance(asked.stop, str) else asked.stop or [],
        response_format=asked.response_format,
    )


async def _stream(
    request: web.Request, model: Model, wanted: Generate, completion: chat.Completion
) -> tuple[web.StreamResponse, str]:
    """The answer and how it ended."""
    stream = await EventStream.open(request)
    try:
        await stream.send_data(completion.started())
        async with aclosing(answered(model, wanted, completion)) as chunks:
            async for chunk in chunks:
                await stream.send_data(chunk)
    except BackendError as e:
        await stream.send_data(body.error(backend_fault(e)))
        return await stream.end(), "failed"
    except ConnectionResetError:
        raise
    except Exception:
        log.exception("a completion failed")
        await stream.send_data(body.error(mistake()))
        return await stream.end(), "failed"
    return await stream.end(), "completed"
