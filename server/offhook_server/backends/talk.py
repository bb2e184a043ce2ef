"""Keeps a chat model's talk out of what it was to complete, inside the worker. Not for models taught to fill in."""

from offhook_server.backends.base import Delta, Emit, Piece
from offhook_server.core.code_only import CodeOnly
from offhook_server.core.fim import Infill
from offhook_server.errors import BackendError

TALK = "The model answered with talk in place of code; choose one made for code."


class WithoutTalk:
    """An Emit that passes on all but talk. Call `finish` when the engine is done."""

    def __init__(self, emit: Emit, infill: Infill) -> None:
        self._emit = emit
        self._code = CodeOnly.of(infill, asked_in_words=False)

    def __call__(self, piece: Piece) -> bool:
        if not isinstance(piece, Delta):
            return self._emit(piece)
        text = self._code.feed(piece.text)
        return self._emit(Delta(piece.id, text)) if text else self._code.ended or self._emit.wait(0)

    def wait(self, seconds: float | None) -> bool:
        return self._emit.wait(seconds)

    def finish(self, request_id: int) -> None:
        """Emits what was held back. Raises BackendError when there was nothing but talk."""
        text = self._code.finish()
        if text:
            self._emit(Delta(request_id, text))
        elif self._code.only_talk:
            raise BackendError(TALK)
