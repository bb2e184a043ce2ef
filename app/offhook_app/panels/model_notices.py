"""Puts what `state.models` says of each model into the notice bar, and what is pressed there on the line. Decides nothing."""

from pathlib import Path
from typing import get_args

from offhook_app.editor.driver import Line
from offhook_app.panels.notice import Notice, NoticeBar
from offhook_app.state.models import Models, Press, Role
from offhook_wire.messages import ServerStatus

ICONS = {"ok": "cpu", "warn": "warning"}


class ModelNotices:
    def __init__(self, bar: NoticeBar, line: Line) -> None:
        self._bar = bar
        self._line = line
        self._models = Models(str(Path.home()))

    def hears(self, server: ServerStatus) -> None:
        self._models.hears(server)
        self._say()

    def wants(self, role: Role) -> None:
        self._models.wants(role)
        self._say()

    def _pressed(self, role: Role, press: Press) -> None:
        if message := self._models.pressed(role, press):
            self._line.send(message)
        self._say()

    def _say(self) -> None:
        for role in get_args(Role):
            notice = self._models.notice(role)
            if notice is None:
                self._bar.drop(f"model {role}")
                continue
            ways = tuple(
                (way.label, lambda press=way.press, role=role: self._pressed(role, press)) for way in notice.ways
            )
            self._bar.put(f"model {role}", Notice(notice.tone, ICONS[notice.tone], notice.words, ways, notice.detail))
