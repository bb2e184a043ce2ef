"""The sentences of the status line, made from plain values. Not the widget, which keeps each on screen for a while.

Every silence has a reason: a `Standing` without a suggestion names a `Silence`, and each of those has its words.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from offhook_app.state.line_state import LineState
from offhook_wire.messages import ServerStatus

Tone = Literal["ok", "warn", "bad", "idle"]


class Silence(StrEnum):
    """Why there is no suggestion."""

    NEVER_SENT = "never_sent"
    TOO_LARGE = "too_large"
    READ_ONLY = "read_only"
    COMPOSING = "composing"
    SELECTION = "selection"
    NO_FOCUS = "no_focus"
    OFF_THE_LINE = "off_the_line"
    OUT_OF_STEP = "out_of_step"
    NO_MODEL = "no_model"
    NOTHING_LIKELY = "nothing_likely"
    REVERSAL = "reversal"
    DISMISSED = "dismissed"
    AFTER_UNDO = "after_undo"
    AFTER_PASTE = "after_paste"
    TOO_SLOW = "too_slow"
    FAILED = "failed"


_SILENCES = {
    Silence.TOO_LARGE: "No suggestion: file too large",
    Silence.READ_ONLY: "No suggestion: read-only",
    Silence.COMPOSING: "No suggestion: input method open",
    Silence.SELECTION: "No suggestion: selection active",
    Silence.NO_FOCUS: "No suggestion: the editor is not in use",
    Silence.OFF_THE_LINE: "No suggestion: off the line",
    Silence.OUT_OF_STEP: "No suggestion: file not in step yet",
    Silence.NOTHING_LIKELY: "No suggestion: nothing likely here",
    Silence.REVERSAL: "No suggestion: would undo your edit",
    Silence.DISMISSED: "No suggestion: you dismissed it",
    Silence.AFTER_UNDO: "No suggestion: waiting for your next key after undo",
    Silence.AFTER_PASTE: "No suggestion: waiting for your next key after pasting",
    Silence.TOO_SLOW: "No suggestion: the answer is late",
    Silence.FAILED: "No suggestion: the model stopped, the next key tries again",
}

Stage = Literal["idle", "waiting", "thinking", "arriving", "shown", "typed_into", "cut", "white", "silent"]


Deep = Literal["idle", "asked", "waiting", "shown"]  # the deep model's part: asked, has another, or is what one sees


@dataclass(frozen=True, slots=True)
class Standing:
    """`lines` and `spaces` describe the ghost, which is `number` of `choices`; `line` is the caret's, from 1; `name` the
    file's."""

    stage: Stage
    lines: int = 0
    spaces: int = 0
    line: int = 0
    silence: Silence | None = None
    name: str = ""
    number: int = 1
    choices: int = 1
    deep: Deep = "idle"


def count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def chip_words(standing: Standing) -> str:
    """What stands beside the suggestion of others there are; empty for none."""
    if standing.choices > 1 and standing.deep == "waiting":
        return "Deep model has another"
    if standing.choices > 1:
        whose = ", deep model" if standing.deep == "shown" else ""
        return f"{standing.number} of {standing.choices}{whose}"
    return "Deep model is thinking" if standing.deep == "asked" else ""


def _shown_words(standing: Standing) -> str:
    lines = count(standing.lines, "line")
    if standing.choices > 1 and standing.stage in ("shown", "typed_into"):
        return f"Suggestion: {standing.choices} to choose from"
    return {
        "idle": "Suggestions: on",
        "waiting": "Suggestions: waiting for a pause",
        "thinking": f"Thinking about line {standing.line}",
        "arriving": "Suggestion: arriving",
        "shown": f"Suggestion: {lines}, Tab accepts",
        "typed_into": f"Suggestion: {lines}, typed into",
        "cut": f"Suggestion: cut off, {lines} usable",
        "white": f"Suggestion: {count(standing.spaces, 'space')}",
    }[standing.stage]


def _no_model_words(server: ServerStatus | None) -> str:
    if server is None or server.model == "starting":
        return "No suggestion: starting the model"
    if server.model == "downloading":
        return f"No suggestion: model on its way{_percent(server)}"
    if server.model == "failed":
        return "No suggestion: the model did not start"
    if server.model == "ready" and server.notice:
        return server.notice
    return "No suggestion: no model yet, your own code only"


def suggestion_words(standing: Standing, server: ServerStatus | None) -> str:
    if standing.silence is None:
        return _shown_words(standing)
    if standing.silence is Silence.NEVER_SENT:
        return f"No suggestion: {standing.name} is never sent"
    if standing.silence is Silence.NO_MODEL:
        return _no_model_words(server)
    return _SILENCES[standing.silence]


def milliseconds(ms: float) -> str:
    """One decimal under 100, none above."""
    return f"{ms:.1f} ms" if ms < 100 else f"{ms:,.0f} ms"


def _nth(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _waiting_words(line: LineState) -> str:
    words = "Off the line"
    if line.retry_in_s is not None:
        words += f" · trying again in {math.ceil(line.retry_in_s)} s"
    return f"{words} ({_nth(line.attempt)} try)" if line.attempt > 1 else words


def line_words(line: LineState, server: ServerStatus | None) -> tuple[Tone, str]:
    if line.kind == "open":
        if server is not None and server.model == "starting":
            return "warn", "On the line · starting models"
        trip = "" if line.round_trip_ms is None else f" · {milliseconds(line.round_trip_ms)}"
        return "ok", "On the line" + trip
    if line.kind == "slow":
        trip = "" if line.round_trip_ms is None else f" · {milliseconds(line.round_trip_ms)}"
        return "warn", "Slow line" + trip
    if line.kind == "waiting":
        return "bad", _waiting_words(line)
    if line.kind == "closed":
        return "bad", "Off the line" + (f" · {line.detail}" if line.detail else "")
    words = {
        "starting": "Starting the server",
        "connecting": "Getting on the line",
        "http": "On the line · by HTTP, WebSocket refused",
    }[line.kind]
    return "warn", words


def _percent(server: ServerStatus) -> str:
    return "" if server.share is None else f", {server.share * 100:.0f} %"


def download_words(server: ServerStatus | None) -> str:
    """For the status line: of all that is on its way together; empty when nothing is."""
    coming = [model for model in server.models if model.state == "downloading"] if server else []
    if not coming:
        return ""
    what = coming[0].name if len(coming) == 1 else f"{len(coming)} models"
    if any(model.share is None for model in coming):
        return f"Downloading {what}"
    done = sum(model.size_bytes * (model.share or 0.0) for model in coming)
    return f"Downloading {what} {100 * done / max(1, sum(model.size_bytes for model in coming)):.0f} %"
