"""The bar under the header that says what happened, what still works, and offers one way on. Never a dialog.

Several may stand at once; the most urgent is shown. A notice takes no focus and stays until its cause is gone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from offhook_app.panels import fonts, style
from offhook_app.panels.hints import ElidedLabel
from offhook_app.state.theme import Theme

Tone = Literal["ok", "warn", "bad"]
_URGENCY: dict[Tone, int] = {"bad": 0, "warn": 1, "ok": 2}


@dataclass(frozen=True, slots=True)
class Notice:
    tone: Tone
    icon: str
    words: str
    ways: tuple[tuple[str, Callable[[], None]], ...] = field(default=(), compare=False)


class NoticeBar(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(44)
        self._theme = theme
        self._notices: dict[str, Notice] = {}
        self._shown: Notice | None = None
        self._icon = QLabel()
        self._words = ElidedLabel()
        self._words.setFont(fonts.ui(13, QFont.Weight.DemiBold))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(16, 0, 16, 0)
        self._row.setSpacing(8)
        self._row.addWidget(self._icon)
        self._row.addSpacing(4)
        self._row.addWidget(self._words, 1)
        self._buttons: list[QPushButton] = []
        self.hide()

    def recolour(self, theme: Theme) -> None:
        self._theme, self._shown = theme, None
        self._choose()

    def put(self, cause: str, notice: Notice) -> None:
        self._notices[cause] = notice
        self._choose()

    def drop(self, cause: str) -> None:
        if self._notices.pop(cause, None):
            self._choose()

    @property
    def words(self) -> str:
        """What is shown; empty when nothing is."""
        return self._shown.words if self._shown else ""

    def _choose(self) -> None:
        notice = min(self._notices.values(), key=lambda n: _URGENCY[n.tone], default=None)
        if notice == self._shown:
            return
        self._shown = notice
        self.setVisible(notice is not None)
        if notice is not None:
            self._fill(notice)

    def _fill(self, notice: Notice) -> None:
        self.setProperty("tone", notice.tone)
        self.style().unpolish(self)
        self.style().polish(self)
        colour = {"bad": self._theme.bad, "warn": self._theme.warn, "ok": self._theme.accent}[notice.tone]
        self._icon.setPixmap(style.icon(notice.icon, colour).pixmap(QSize(18, 18)))
        self._words.say(notice.words)
        self.setAccessibleName(notice.words)
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [self._button(*way, first=i == 0) for i, way in enumerate(notice.ways)]

    def _button(self, words: str, act: Callable[[], None], *, first: bool) -> QPushButton:
        button = QPushButton(words)
        button.setFont(fonts.ui(12, QFont.Weight.Medium))
        if not first:
            button.setProperty("kind", "quiet")
        button.clicked.connect(act)
        self._row.addWidget(button)
        return button
