"""One turn on the screen: who, how it stands, and what was said as prose and code that may still grow."""

from markdown_it import MarkdownIt
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from offhook_app.panels import fonts
from offhook_app.panels.code_card import CodeCard
from offhook_app.panels.markdown import TYPED, WRITTEN, Block, Growing
from offhook_app.panels.page import Looks
from offhook_app.panels.prose import Prose
from offhook_app.state.exchange import Exchange, state_words
from offhook_app.state.theme import Theme
from offhook_wire.messages import ServerStatus

_BAR_PX = 3
_BARS_LEFT_PX = 14


class Turn(QWidget):
    """A bar at the left, which shows where the keyboard is, a first line of small words, then the text."""

    insert_pressed = Signal(str)

    def __init__(self, who: str, parser: MarkdownIt, theme: Theme) -> None:
        super().__init__()
        self._theme, self._looks = theme, Looks(theme)
        self._bar, self._focus_bar = QColor(theme.edge), QColor(theme.accent)
        self._growing = Growing(parser)
        self._grown = ("", False)
        self._open: Prose | CodeCard | None = None
        self._may_insert = True
        self._who = who
        name = QLabel(who)
        name.setFont(fonts.ui(12, QFont.Weight.DemiBold))
        self._kind, self._state = QLabel(), QLabel()
        for label in (self._kind, self._state):
            label.setFont(fonts.ui(12))
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(name)
        head.addWidget(self._kind)
        head.addStretch(1)
        head.addWidget(self._state)
        self._body = QVBoxLayout()
        self._body.setSpacing(10)
        column = QVBoxLayout(self)
        column.setContentsMargins(_BARS_LEFT_PX, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(self._body)
        self._column = column

    def grow(self, text: str, *, ended: bool) -> None:
        """All of what was said by now, which begins with what was said before."""
        if (text, ended) == self._grown:
            return
        self._grown = (text, ended)
        settled, last = self._growing.grow(text, ended=ended)
        for block in settled:
            self._put(block, still_open=False)
        if last:
            self._put(last, still_open=not ended)

    def let_insert(self, on: bool) -> None:
        self._may_insert = on
        for card in self.findChildren(CodeCard):
            card.let_insert(on)

    def _put(self, block: Block, *, still_open: bool) -> None:
        if block.code is None:
            self._prose().put(block, still_open=still_open)
        else:
            self._card().put(block, settled=not still_open)
        if not still_open:
            self._open = None

    def _prose(self) -> Prose:
        """The prose at the end: the open one, or what stands above the open code, or a new one."""
        if isinstance(self._open, CodeCard):
            self._remove(self._open)
        last = self._last
        if not isinstance(last, Prose):
            last = Prose(self._looks)
            last.setAccessibleName(f"{self._who}, text")
            self._body.addWidget(last)
        self._open = last
        return last

    def _card(self) -> CodeCard:
        if isinstance(self._open, CodeCard):
            return self._open
        if isinstance(self._open, Prose):
            self._open.take_back()
            if self._open.empty:
                self._remove(self._open)
        card = CodeCard(self._theme)
        card.insert_pressed.connect(self.insert_pressed)
        card.let_insert(self._may_insert)
        self._body.addWidget(card)
        self._open = card
        return card

    @property
    def _last(self) -> QWidget | None:
        item = self._body.itemAt(self._body.count() - 1)
        return item.widget() if item else None

    def _remove(self, part: QWidget) -> None:
        self._body.removeWidget(part)
        part.hide()
        part.deleteLater()
        self._open = None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        focused = QApplication.focusWidget()
        painter.setBrush(self._focus_bar if focused and self.isAncestorOf(focused) else self._bar)
        painter.drawRoundedRect(QRectF(0, 0, _BAR_PX, self.height()), 1.5, 1.5)
        painter.end()


class Question(Turn):
    """What the person typed, and which lines went along."""

    def __init__(self, exchange: Exchange, theme: Theme) -> None:
        super().__init__("You", TYPED, theme)
        self._kind.setText("typed")
        self._state.setText(exchange.context.words if exchange.context else "")
        self._state.setAccessibleName("Sent along")
        self.setAccessibleName("You typed")
        self.grow(exchange.question, ended=True)


class Answer(Turn):
    """What Offhook wrote, how it stands, what went wrong and the one way on."""

    again_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__("Offhook", WRITTEN, theme)
        self._note, self._again = QLabel(), QPushButton("Ask again")
        self._note.setFont(fonts.ui(12))
        self._note.setWordWrap(True)
        self._note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._again.setFont(fonts.ui(12, QFont.Weight.Medium))
        self._again.clicked.connect(self.again_pressed)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.setContentsMargins(0, 4, 0, 0)
        row.addWidget(self._note, 1)
        row.addWidget(self._again, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
        self._column.addLayout(row)

    def show_exchange(self, exchange: Exchange, server: ServerStatus | None, *, is_last: bool) -> None:
        self.grow(exchange.answer, ended=not exchange.running)
        self.say_state(exchange, server)
        self._note.setText(exchange.note)
        self._note.setVisible(bool(exchange.note))
        self._again.setVisible(is_last and exchange.may_be_asked_again)

    def say_state(self, exchange: Exchange, server: ServerStatus | None) -> None:
        words = state_words(exchange, server)
        self._state.setText(words)
        tone = {"failed": "bad", "cut": "warn", "stopped": "warn"}.get(exchange.stage, "")
        if exchange.running:
            tone = "accent"
        if self._state.property("tone") != tone:
            self._state.setProperty("tone", tone)
            self._state.style().unpolish(self._state)
            self._state.style().polish(self._state)
        self.setAccessibleName(f"Offhook, {words}")
