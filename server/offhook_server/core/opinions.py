"""Which questions to the deep model live: at most one a document, asked by the person. Not its text's making.

    ask ──▶ running ──text──▶ running ──▶ finished, failed
              └── a newer ask of the document, a cancel, a close, an edit that does not fit: stopped, with a reason

It waits for no pause and has no deadline; what is typed at its place meanwhile must be the beginning of its text.
"""

from dataclasses import dataclass, field

from offhook_server.core.suggestions import Done, Rebased, Said, Started
from offhook_wire.anchor import Anchored
from offhook_wire.messages import Outcome
from offhook_wire.text import Edit, Point


@dataclass(frozen=True, slots=True)
class Begin:
    request_id: str
    at: Point


@dataclass(frozen=True, slots=True)
class Stop:
    request_id: str


Action = Begin | Stop | Started | Said | Rebased | Done


@dataclass(slots=True)
class Opinion:
    request_id: str
    anchored: Anchored


@dataclass(slots=True)
class Opinions:
    """All of one session."""

    _live: dict[str, Opinion] = field(default_factory=dict)  # by document

    def ask(self, request_id: str, uri: str, at: Point) -> list[Action]:
        actions = self._end(uri, "superseded")
        self._live[uri] = Opinion(request_id, Anchored(at))
        return [*actions, Started(request_id, "deep", at), Begin(request_id, at)]

    def edited(self, uri: str, edits: list[Edit]) -> list[Action]:
        opinion = self._live.get(uri)
        if opinion is None:
            return []
        consumed = len(opinion.anchored.typed)
        for edit in edits:
            if opinion.anchored.through(edit):
                return self._end(uri, "stale")
        typed = len(opinion.anchored.typed)
        return [Rebased(opinion.request_id, "deep", typed)] if typed != consumed else []

    def said(self, request_id: str, text: str) -> list[Action]:
        uri = self._uri_of(request_id)
        if uri is None:
            return []
        if self._live[uri].anchored.receive(text):
            return self._end(uri, "stale")
        return [Said(request_id, "deep", text)]

    def ended(self, request_id: str, outcome: Outcome) -> list[Action]:
        """The model ended by itself, or failed."""
        uri = self._uri_of(request_id)
        if uri is None:
            return []
        opinion = self._live.pop(uri)
        if outcome == "finished" and not opinion.anchored.text:
            outcome = "empty"
        return [Done(request_id, "deep", outcome)]

    def cancel(self, request_id: str) -> list[Action]:
        uri = self._uri_of(request_id)
        return self._end(uri, "cancelled") if uri is not None else []

    def closed(self, uri: str) -> list[Action]:
        """The document was closed or lost step."""
        return self._end(uri, "stale")

    def close(self) -> list[Action]:
        """The session is over."""
        return [action for uri in list(self._live) for action in self._end(uri, "cancelled")]

    def _uri_of(self, request_id: str) -> str | None:
        return next((uri for uri, opinion in self._live.items() if opinion.request_id == request_id), None)

    def _end(self, uri: str, outcome: Outcome) -> list[Action]:
        opinion = self._live.pop(uri, None)
        return [Stop(opinion.request_id), Done(opinion.request_id, "deep", outcome)] if opinion else []
