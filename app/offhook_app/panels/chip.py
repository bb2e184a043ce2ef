"""The chip in the composer: which lines of the open file go along, how much that is, and how to change it."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton

from offhook_app.panels import fonts, style
from offhook_app.state.context import Choice, Context, OpenText
from offhook_app.state.theme import Theme

_AROUND_WORDS_PX = 66  # icon, cross, padding


class Chip(QFrame):
    chosen = Signal(str)  # state.context.Choice

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("chip")
        self._theme = theme
        self._words = ""
        self._room_px = 400
        self._next: Choice = "near"
        self._said: object = None
        self._what = QToolButton()
        self._what.setFont(fonts.ui(12, QFont.Weight.Medium))
        self._what.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._what.setIconSize(QSize(14, 14))
        self._what.setFixedHeight(24)
        self._what.clicked.connect(lambda: self.chosen.emit(self._next))
        self._remove = QToolButton()
        self._remove.setIconSize(QSize(12, 12))
        self._remove.setFixedSize(24, 24)
        self._remove.clicked.connect(self._remove_pressed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._what)
        row.addWidget(self._remove)
        self.offer(None, None, "near")

    def recolour(self, theme: Theme) -> None:
        self._theme = theme

    def fit(self, room_px: int) -> None:
        """Where there is little room it says "5–44" for "lines 5–44", leaves out the tokens, gives up its middle."""
        self._room_px = room_px
        metrics, words_px = self._what.fontMetrics(), room_px - _AROUND_WORDS_PX
        short = self._words.replace(" · lines ", " · ")
        shortest = short.partition(" · ~")[0]
        fitting = (words for words in (self._words, short) if metrics.horizontalAdvance(words) <= words_px)
        words = next(fitting, metrics.elidedText(shortest, Qt.TextElideMode.ElideMiddle, words_px))
        self._what.setText(words)

    def offer(self, opened: OpenText | None, context: Context | None, choice: Choice) -> None:
        """What goes along now; without a context, how to send one along, or why there is none."""
        self.setVisible(opened is not None)
        if opened is None:
            return
        may = not opened.never_sent
        self._next = "file" if context and choice == "near" else "near"
        said = (_words(opened, context, choice), self._theme)
        if said == self._said:
            return
        self._said = said
        (icon, self._words, told, act), _ = said
        self._what.setIcon(style.icon(icon, self._theme.t2))
        self._remove.setIcon(style.icon("x", self._theme.t2))
        self._what.setEnabled(may)
        self._what.setToolTip(act)
        self._what.setAccessibleName(f"{told}. {act}" if act else told)
        self._remove.setVisible(context is not None)
        self._remove.setToolTip("Send no code along")
        self._remove.setAccessibleName("Send no code along")
        self.setProperty("empty", context is None)
        self.style().unpolish(self)
        self.style().polish(self)
        self.fit(self._room_px)

    def _remove_pressed(self) -> None:
        self._what.setFocus()  # this button goes, and the keyboard stays here
        self.chosen.emit("none")


def _words(opened: OpenText, context: Context | None, choice: Choice) -> tuple[str, str, str, str]:
    """Icon, words on the chip, the same for a screen reader, and what pressing it does."""
    if opened.never_sent:
        return "lock-simple", f"{opened.name} · never sent", f"{opened.name} is never sent", ""
    if context is None:
        return "plus", opened.name, f"No code of {opened.name} goes along", "Send the lines around the caret along"
    words = f"{context.words} · ~{context.tokens:,} tokens"
    act = "Send the whole file along" if choice == "near" else "Send the lines around the caret along"
    return "file-text", words, f"Goes along: {words}", act
