"""The bottom row: how the line stands, what the suggestions do, and what file this is. Its words come from `state`."""

import time

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from offhook_app.panels import fonts, style
from offhook_app.state.status import Tone
from offhook_app.state.theme import Theme

LEAST_SHOWN_S = 0.6
WIDEST_POSITION = "999999:9999"


class Dot(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(7, 26)
        self._colour = QColor()

    def set_colour(self, colour: str) -> None:
        if self._colour != QColor(colour):
            self._colour = QColor(colour)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self._colour)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QRectF(0, (self.height() - 7) / 2, 7, 7))
        painter.end()


class SteadyLabel(QLabel):
    """Each sentence stays long enough to be read; of those that come meanwhile the newest follows."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFont(fonts.ui(12))
        self._next = ""
        self._since = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(lambda: self._now(self._next))

    def say(self, words: str) -> None:
        self._next = words
        left_s = self._since + LEAST_SHOWN_S - time.monotonic()
        if left_s <= 0:
            self._now(words)
        elif not self._later.isActive():
            self._later.start(round(left_s * 1000))

    def _now(self, words: str) -> None:
        if words != self.text():
            self._since = time.monotonic()
            self.setText(words)


class StatusLine(QWidget):
    line_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("statusLine")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(26)
        self._theme = theme
        self._line_tone: Tone = "idle"
        self._dot = Dot()
        self._line = QToolButton()
        self._line.setFont(fonts.ui(12))
        self._line.setAccessibleName("The line")
        self._line.setToolTip("Show where the time went (Alt 2)")
        self._line.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._line.clicked.connect(self.line_pressed)
        self._mark = QLabel()
        self.suggestion = SteadyLabel("Suggestions")
        self.download = QLabel()
        self.download.setFont(fonts.ui(12))
        self._facts = [QLabel() for _ in range(5)]
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(0)
        row.addWidget(self._dot)
        row.addWidget(self._line)
        row.addSpacing(12)
        row.addWidget(self._mark)
        row.addSpacing(6)
        row.addWidget(self.suggestion)
        row.addSpacing(20)
        row.addWidget(self.download)
        row.addStretch(1)
        for label, name in zip(self._facts, ("Position", "Indent", "Encoding", "Line end", "Language"), strict=True):
            label.setFont(fonts.ui(12))
            label.setAccessibleName(name)
            row.addSpacing(20)
            row.addWidget(label)
        position = self._facts[0]
        position.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # fixed, or each key lays out the whole window for it
        position.setFixedSize(position.fontMetrics().horizontalAdvance(WIDEST_POSITION), self.height())
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._theme = theme
        self._mark.setPixmap(style.icon("text-aa", theme.t2).pixmap(14, 14))
        self._colour_dot()

    def set_line(self, tone: Tone, words: str) -> None:
        self._line_tone = tone
        self._line.setText(words)
        self._colour_dot()

    @property
    def line_words(self) -> str:
        return self._line.text()

    def set_facts(self, *facts: str) -> None:
        """Position, indent, encoding, line end, language."""
        for label, words in zip(self._facts, facts, strict=True):
            label.setText(words)

    def set_position(self, words: str) -> None:
        self._facts[0].setText(words)

    def _colour_dot(self) -> None:
        theme = self._theme
        self._dot.set_colour({"ok": theme.ok, "warn": theme.warn, "bad": theme.bad, "idle": theme.t3}[self._line_tone])
