"""What the window says of each model, and what it offers: decided from the server's word and the person's. Fetches nothing.

    offered ── Fetch ──▶ on its way ──▶ here: nothing more to say
       │                   │  ▲
    Not now               Stop, failed: Go on
       ▼                   ▼  │
    nothing, until it is wanted again

The fast model is offered when the server lacks it; the deep one at the first wish for it.
"""

from dataclasses import dataclass, field
from typing import Literal

from offhook_wire.messages import ModelFetch, ModelStatus, ModelStop, ServerStatus

Role = Literal["fast", "deep"]
Press = Literal["fetch", "stop", "not_now"]
Tone = Literal["ok", "warn"]

LABELS: dict[Press, str] = {"fetch": "Fetch", "stop": "Stop", "not_now": "Not now"}
GO_ON = "Go on"
FOR: dict[Role, str] = {
    "fast": "The small model is not here yet: suggestions come from your own code only.",
    "deep": "The deep model is not here yet: answers come from the small model.",
}
MEANWHILE: dict[Role, str] = {
    "fast": "Editing works meanwhile; suggestions come from your own code.",
    "deep": "Editing and suggestions work meanwhile.",
}
STOPPED = "Stopped. What has arrived is kept."
NOT_STARTED: dict[Role, str] = {
    "fast": "The small model did not start. Suggestions come from your own code only.",
    "deep": "The deep model did not start. Answers come from the small model.",
}


@dataclass(frozen=True, slots=True)
class Way:
    """A button: `press` goes back to `pressed`."""

    label: str
    press: Press


@dataclass(frozen=True, slots=True)
class ModelNotice:
    tone: Tone
    words: str
    detail: str = ""
    ways: tuple[Way, ...] = ()


@dataclass(slots=True)
class _Known:
    status: ModelStatus
    wanted: bool = False
    declined: bool = False
    begun: bool = False  # a download of it was seen
    stopping: bool = False


@dataclass(slots=True)
class Models:
    """`home`: the person's folder, which words shorten to ~."""

    home: str
    _known: dict[Role, _Known] = field(default_factory=dict)
    _wanted: set[Role] = field(default_factory=lambda: {"fast"})

    def hears(self, server: ServerStatus) -> None:
        for status in server.models:
            known = self._known.setdefault(status.role, _Known(status))
            if status.state == "downloading":
                known.begun, known.declined = True, False
            elif status.state != "absent":
                known.begun = known.stopping = False
            known.status = status

    def wants(self, role: Role) -> None:
        """The person did something that this model is for."""
        self._wanted.add(role)
        if role in self._known:
            self._known[role].declined = False

    def pressed(self, role: Role, press: Press) -> ModelFetch | ModelStop | None:
        """What to tell the server."""
        known = self._known[role]
        match press:
            case "fetch":
                known.stopping = False
                return ModelFetch(known.status.name)
            case "stop":
                known.stopping = True
                return ModelStop(known.status.name)
            case _:
                known.declined = True
                return None

    def notice(self, role: Role) -> ModelNotice | None:
        known = self._known.get(role)
        if known is None or known.declined:
            return None
        match known.status.state:
            case "absent":
                return self._absent(role, known)
            case "downloading":
                return ModelNotice("ok", progress(known.status), MEANWHILE[role], (Way(LABELS["stop"], "stop"),))
            case "failed":
                return ModelNotice("warn", known.status.detail or NOT_STARTED[role])
            case _:
                return None

    def _absent(self, role: Role, known: _Known) -> ModelNotice | None:
        status = known.status
        not_now = Way(LABELS["not_now"], "not_now")
        go_on = (Way(GO_ON, "fetch"), not_now)
        if known.begun and known.stopping:
            return ModelNotice("ok", f"{status.name}: {STOPPED}", self._facts(status), go_on)
        if known.begun:
            return ModelNotice("warn", status.detail, self._facts(status), go_on)
        if role not in self._wanted:
            return None
        if not status.size_bytes:  # a file of the person's own, which only they can bring
            return ModelNotice("warn", status.detail, "", (not_now,))
        return ModelNotice("ok", FOR[role], self._facts(status), (Way(LABELS["fetch"], "fetch"), not_now))

    def _facts(self, status: ModelStatus) -> str:
        """What a person should know before a byte is fetched."""
        inside = status.folder.startswith(f"{self.home}/")
        folder = f"~{status.folder.removeprefix(self.home)}" if inside else status.folder
        return (
            f"{status.name} · {megabytes(status.size_bytes)} · {status.licence} · from {status.source} · into {folder}"
        )


def megabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:,.0f} MB"


def progress(status: ModelStatus) -> str:
    """`detail` of a download says what is done instead of fetching."""
    if status.share is None:
        return f"Fetching {status.name}: looking for a source"
    if status.detail:
        return f"{status.name}: {status.detail}, {status.share * 100:.0f} %"
    done = status.share * status.size_bytes / 1e6
    return f"Fetching {status.name}: {done:,.0f} of {megabytes(status.size_bytes)}"
