"""What is sent to a place for a request: which of its addresses, and which fields. Pure; sends nothing."""

import ipaddress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from msgspec import structs

from offhook_server.backends.base import Generate
from offhook_server.core import code_only, fim
from offhook_server.core.fim import Infill
from offhook_server.settings import Fim, Place

TALK_TOKENS = 48  # a chat model needs some for fences and politeness


@dataclass(frozen=True, slots=True)
class Found:
    """What a place turned out to be. `slots`: of a llama.cpp server, 0 of any other."""

    model: str
    fim: Fim
    slots: int = 0


@dataclass(frozen=True, slots=True)
class Sending:
    """`lead`: what the model was told already although its answer has to begin with it. `in_words`: a chat model was
    asked to fill in."""

    url: str
    body: dict[str, Any]
    lead: str = ""
    in_words: bool = False


def is_loopback(place: Place) -> bool:
    host = urlsplit(place.url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def root(place: Place) -> str:
    """Where llama.cpp has what is its own."""
    return place.url.removesuffix("/v1")


def found(place: Place, slots: int, model: str, owner: str) -> Found:
    """`slots`: what /props tells. `model` and `owner`: of the first model that /models lists, or of the chosen one."""
    model = place.model or model
    return Found(model, place.fim or _offered(place, slots, model, owner), slots)


def without_filling_in(known: Found) -> Found:
    """After the place refused to fill in by itself: by the marks of the model's family, else in words."""
    return Found(known.model, _by_name(known.model) if known.fim in ("suffix", "infill") else "none", known.slots)


def _offered(place: Place, slots: int, model: str, owner: str) -> Fim:
    host = urlsplit(place.url).hostname or ""
    if slots:
        return "infill"
    if host.endswith("mistral.ai"):
        return "mistral"
    if owner == "library" or (host.endswith("deepseek.com") and place.url.endswith("/beta")):
        return "suffix"  # "library" is whom Ollama calls the owner
    if owner == "vllm" or is_loopback(place):
        return _by_name(model)
    return "none"


def _by_name(model: str) -> Fim:
    template = fim.template_named_by(model)
    return next((name for name, known in fim.TEMPLATES.items() if known is template), "none")


def sending(place: Place, known: Found, request: Generate, left_out: frozenset[str] = frozenset()) -> Sending:
    """`left_out`: fields that the place does not want."""
    if request.infill is not None:
        return _filling_in(place, known, request, request.infill, left_out)
    if request.prompt is not None:
        body = _fields(known, request, left_out) | _grammar(known, request) | {"prompt": request.prompt}
        return Sending(f"{place.url}/completions", body)
    chat = {
        "messages": request.messages,
        "tools": request.tools,
        "tool_choice": request.tool_choice,
        "response_format": request.response_format,
    }
    body = _fields(known, request, left_out)
    body |= {name: value for name, value in chat.items() if value is not None and name not in left_out}
    return Sending(f"{place.url}/chat/completions", body)


def _filling_in(place: Place, known: Found, request: Generate, infill: Infill, left_out: frozenset[str]) -> Sending:
    body = _fields(known, request, left_out)
    match known.fim:
        case "infill":
            body |= {"n_predict": request.max_tokens, **_grammar(known, request), **fim.infill_fields(infill)}
            return Sending(f"{root(place)}/infill", body)
        case "suffix":
            return Sending(f"{place.url}/completions", body | fim.suffix_fields(infill), infill.lead)
        case "mistral":
            body.pop("stream_options", None)
            return Sending(f"{place.url}/fim/completions", body | fim.suffix_fields(infill), infill.lead)
        case "none":
            body.pop("stop", None)  # the answer may begin with a line end
            body = _with_more_tokens(body, TALK_TOKENS) | {"messages": code_only.question(infill)}
            return Sending(f"{place.url}/chat/completions", body, infill.lead, in_words=True)
        case family:
            template = fim.TEMPLATES[family]
            whole = structs.replace(infill, lead="")
            body |= {"prompt": template.render(whole), "stop": [*template.marks, *request.stop]}
            return Sending(f"{place.url}/completions", body, infill.lead)


def _fields(known: Found, request: Generate, left_out: frozenset[str]) -> dict[str, Any]:
    optional = {
        "max_completion_tokens" if "max_tokens" in left_out else "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop or None,
        "stream_options": {"include_usage": True},
    }
    body = {"model": known.model, "stream": True}
    body |= {name: value for name, value in optional.items() if value is not None and name not in left_out}
    if known.slots:
        body |= {"cache_prompt": True, "id_slot": request.slot % known.slots, "return_progress": True}
    return body


def _grammar(known: Found, request: Generate) -> dict[str, Any]:
    return {"grammar": request.grammar} if request.grammar and known.slots else {}


def _with_more_tokens(body: dict[str, Any], more: int) -> dict[str, Any]:
    name = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
    return body | {name: body[name] + more}
