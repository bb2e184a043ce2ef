"""A typed question and its answer as one plain value, kept on the disk as it is. Not what happens to it.

queued ──▶ sent ──▶ writing ──▶ done
   ▲         │         ├──────▶ long     the answer reached its limit
   └─ line ──┘         ├──────▶ stopped  by the person
      lost             ├──────▶ cut      the line was lost, or the app ended
                       └──────▶ failed   the server says why
"""

from typing import Literal

from msgspec import Struct

from offhook_app.state.context import Context
from offhook_app.state.models import Role
from offhook_wire.messages import ServerStatus

Stage = Literal["queued", "sent", "writing", "done", "long", "stopped", "cut", "failed"]

_RUNNING = ("queued", "sent", "writing")
_WORDS: dict[Stage, str] = {
    "queued": "waiting for the line",
    "sent": "thinking",
    "writing": "writing",
    "done": "written",
    "long": "reached its limit",
    "stopped": "stopped",
    "cut": "cut off",
    "failed": "failed",
}


class Exchange(Struct, frozen=True):
    """`id` rises within a conversation. `note` is a sentence under the answer; `superseded`: it was asked again."""

    id: int
    question: str
    context: Context | None = None
    answer: str = ""
    stage: Stage = "queued"
    note: str = ""
    superseded: bool = False

    @property
    def running(self) -> bool:
        return self.stage in _RUNNING

    @property
    def answered(self) -> bool:
        """Whether it counts as said: what a later question may build on."""
        return bool(self.answer) and not self.superseded

    @property
    def may_be_asked_again(self) -> bool:
        return self.stage in ("stopped", "cut", "failed") and not self.superseded


def state_words(exchange: Exchange, server: ServerStatus | None, role: Role = "deep") -> str:
    """How the answer stands, for the right end of its first line. `role`: of the model that gives it."""
    if exchange.stage == "sent" and (waiting := _waiting_words(server, role)):
        return waiting
    return _WORDS[exchange.stage]


def _waiting_words(server: ServerStatus | None, role: Role) -> str:
    """Why nothing comes yet; empty while the model reads and thinks."""
    model = next((m for m in server.models if m.role == role), None) if server else None
    if model is None or model.state == "ready":
        return ""
    if model.state == "downloading":
        share = "" if model.share is None else f", {model.share * 100:.0f} %"
        return f"model on its way{share}"
    return "starting the model" if model.state in ("starting", "asleep") else ""
