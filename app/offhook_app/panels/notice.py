"""The bar under the header that says what happened, what still works, and offers one way on. Never a dialog.

Several may stand at once; the most urgent is shown. A notice takes no focus and stays until its cause is gone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from offhook_app.panels import fonts, style
from offhook_app.panels.hints import ElidedLabel
from offhook_app.state.theme import Theme

Tone = Literal["ok", "warn", "bad"]
_URGENCY: dict[Tone, int] = {"bad": 0, "warn": 1, "ok": 2}


@dataclass(frozen=True, slots=True)
class Notice:
    """`detail`: what has to be read whole, in a second row or more."""

    tone: Tone
    icon: str
    words: str
    ways: tuple[tuple[str, Callable[[], None]], ...] = field(default=(), compare=False)
    detail: str = ""

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self.ways]


class NoticeBar(QWidget):
    keyboard_left = Signal()  # it went with the notice

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumHeight(44)
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
        self._detail = QLabel()
        self._detail.setFont(fonts.ui(12))
        self._detail.setWordWrap(True)
        said = QVBoxLayout()
        said.setContentsMargins(0, 8, 0, 8)
        said.setSpacing(2)
        said.addWidget(self._words)
        said.addWidget(self._detail)
        self._row.addLayout(said, 1)
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

    @property
    def detail(self) -> str:
        return self._shown.detail if self._shown else ""

    def _choose(self) -> None:
        notice = min(self._notices.values(), key=lambda n: _URGENCY[n.tone], default=None)
        shown = self._shown
        if notice == shown and (notice is None or (shown and notice.labels == shown.labels)):
            return
        self._shown = notice
        focused = QApplication.focusWidget()
        had_keyboard = focused is not None and self.isAncestorOf(focused)
        self.setVisible(notice is not None)
        if notice is not None:
            self._fill(notice, again=shown is not None and notice.labels == shown.labels)
        if had_keyboard and self._buttons and notice is not None:
            self._buttons[0].setFocus()
        elif had_keyboard:
            self.keyboard_left.emit()

    def _fill(self, notice: Notice, *, again: bool) -> None:
        """`again`: the buttons are those of before, so that one that is being pressed stays."""
        self.setProperty("tone", notice.tone)
        self.style().unpolish(self)
        self.style().polish(self)
        colour = {"bad": self._theme.bad, "warn": self._theme.warn, "ok": self._theme.accent}[notice.tone]
        self._icon.setPixmap(style.icon(notice.icon, colour).pixmap(QSize(18, 18)))
        self._words.say(notice.words)
        self._detail.setText(notice.detail)
        self._detail.setVisible(bool(notice.detail))
        self.setAccessibleName(f"{notice.words} {notice.detail}".strip())
        if again:
            return
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [self._button(label, number) for number, label in enumerate(notice.labels)]

    def _act(self, number: int) -> None:
        if self._shown and number < len(self._shown.ways):
            self._shown.ways[number][1]()

    def _button(self, words: str, number: int) -> QPushButton:
        button = QPushButton(words)
        button.setFont(fonts.ui(12, QFont.Weight.Medium))
        if number:
            button.setProperty("kind", "quiet")
        button.clicked.connect(lambda: self._act(number))
        self._row.addWidget(button)
        return button
