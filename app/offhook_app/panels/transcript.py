"""The turns on the screen, in one column that scrolls by itself. Not where they come from.

New text scrolls only if the end was in view; else a pill counts what has come since. Text that streams in is laid out
at most once a frame, and not at all while nobody sees it.
"""

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFont, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from offhook_app.panels import fonts
from offhook_app.panels.divider import Divider
from offhook_app.panels.turn import Answer, Question
from offhook_app.state.exchange import Exchange, state_words
from offhook_app.state.status import count
from offhook_app.state.theme import Theme
from offhook_wire.messages import ServerStatus

_FRAME_MS = 16
_REST = 4  # a long paragraph takes its time to lay out; of all time at most a fifth is spent on it
_MOST_AT_FIRST = 30
_NEAR_THE_END_PX = 8


class Transcript(QScrollArea):
    insert_pressed = Signal(str)
    again_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._server: ServerStatus | None = None
        self._may_insert = False
        self._exchanges: list[Exchange] = []
        self._turns: dict[int, tuple[Question, Answer]] = {}
        self._late: dict[int, Exchange] = {}  # to be laid out with the next frame
        self._most = _MOST_AT_FIRST
        self._unfilled = False  # while nobody has seen it
        self._reads_from = 0
        self._follows = True
        self._unseen: set[int] = set()
        self._frame = QTimer(self, singleShot=True, interval=_FRAME_MS)
        self._frame.timeout.connect(self._lay_late)
        self._build()
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().rangeChanged.connect(lambda *_: self._keep_end())

    def _build(self) -> None:
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # its turns are what Tab goes to
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # its room is there before it is
        self.setAccessibleName("Conversation, list of turns")
        inside = QWidget()
        inside.setObjectName("transcript")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(15, 11, 5, 15)
        self._column.setSpacing(18)
        self._earlier = QPushButton("Show earlier")
        self._earlier.setProperty("kind", "quiet")
        self._earlier.setFont(fonts.ui(12, QFont.Weight.Medium))
        self._earlier.clicked.connect(self._show_earlier)
        self._divider = Divider("Offhook reads from here on")
        self._column.addWidget(self._earlier, 0, Qt.AlignmentFlag.AlignHCenter)
        self._column.addWidget(self._divider)
        self._column.addStretch(1)
        self.setWidget(inside)
        self._pill = QPushButton("New ↓", self)
        self._pill.setObjectName("pill")
        self._pill.setFont(fonts.ui(12, QFont.Weight.Medium))
        self._pill.clicked.connect(self.to_end)
        for widget in (self._pill, self._earlier, self._divider):
            widget.hide()
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._focus_moved)

    # -- what is shown --------------------------------------------------------------------------------------------

    def fill(self, exchanges: list[Exchange], most: int = _MOST_AT_FIRST) -> None:
        """All anew, of it the newest `most`; laid out when it is seen."""
        self._exchanges, self._most, self._unfilled = list(exchanges), most, True
        if self.isVisible():
            self._fill()

    def _fill(self) -> None:
        self._unfilled = False
        for turns in self._turns.values():
            for turn in turns:
                self._column.removeWidget(turn)
                turn.hide()
                turn.deleteLater()
        self._turns.clear()
        self._late.clear()
        hidden = max(0, len(self._exchanges) - self._most)
        self._earlier.setText(f"Show {hidden} earlier")
        self._earlier.setVisible(hidden > 0)
        for exchange in self._exchanges[hidden:]:
            self._add(exchange)
        self._mark_memory()
        self.to_end()

    def recolour(self, theme: Theme) -> None:
        self._theme = theme
        self.fill(self._exchanges, max(_MOST_AT_FIRST, len(self._turns)))

    def show_exchange(self, exchange: Exchange) -> None:
        old = self._exchanges[-1] if self._exchanges else None
        known = any(e.id == exchange.id for e in self._exchanges)
        if known:
            self._exchanges = [exchange if e.id == exchange.id else e for e in self._exchanges]
        else:
            self._exchanges.append(exchange)
        if self._unfilled:
            return
        if not known:
            self._add(exchange)
            if old and old.id in self._turns:
                self._lay(old)  # its button goes
            self.to_end()  # the person has just asked
            return
        self._late[exchange.id] = exchange
        if old and old.stage == exchange.stage:
            if not self._frame.isActive():
                self._frame.start()
        else:
            self._lay_late()
            self._announce(exchange)

    def set_reads_from(self, exchange_id: int) -> None:
        """Marks where the model's memory begins, if that is not at the beginning."""
        if exchange_id != self._reads_from:
            self._reads_from = exchange_id
            self._mark_memory()

    def _mark_memory(self) -> None:
        turns = self._turns.get(self._reads_from)
        forgotten = turns is not None and any(e.id < self._reads_from for e in self._exchanges)
        if turns and forgotten:
            self._column.removeWidget(self._divider)
            self._column.insertWidget(self._column.indexOf(turns[0]), self._divider)
        self._divider.setVisible(forgotten)

    def say_server(self, server: ServerStatus | None) -> None:
        """What the model does, while nothing comes yet."""
        self._server = server
        if self._exchanges and (turns := self._turns.get(self._exchanges[-1].id)):
            turns[1].say_state(self._exchanges[-1], server)

    def let_insert(self, on: bool) -> None:
        if on != self._may_insert:
            self._may_insert = on
            for turns in self._turns.values():
                for turn in turns:
                    turn.let_insert(on)

    # -- where it stands ------------------------------------------------------------------------------------------

    def to_end(self) -> None:
        self._follows = True
        self._keep_end()
        self._show_pill()

    def scroll_pages(self, pages: int) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * (bar.pageStep() - 40))

    @property
    def pill_words(self) -> str:
        """Empty while the end is in view."""
        return self._pill.text() if self._pill.isVisible() else ""

    def _scrolled(self, value: int) -> None:
        self._follows = value >= self.verticalScrollBar().maximum() - _NEAR_THE_END_PX
        self._show_pill()

    def _keep_end(self) -> None:
        bar = self.verticalScrollBar()
        bar.setEnabled(bar.maximum() > 0)
        if self._follows:
            bar.setValue(bar.maximum())

    def _show_pill(self) -> None:
        if self._follows:
            self._unseen.clear()
            if self._pill.hasFocus():
                self.setFocus()
        self._pill.setVisible(bool(self._unseen))
        self._pill.setText(f"{len(self._unseen)} new ↓")
        self._pill.setAccessibleName(f"{len(self._unseen)} new, go to the end")
        self._place_pill()

    def _place_pill(self) -> None:
        size = self._pill.sizeHint()
        self._pill.setGeometry((self.width() - size.width()) // 2, self.height() - 40, size.width(), size.height())

    # -- turns ----------------------------------------------------------------------------------------------------

    def _add(self, exchange: Exchange) -> None:
        question, answer = Question(exchange, self._theme), Answer(self._theme)
        answer.again_pressed.connect(self.again_pressed)
        for turn in (question, answer):
            turn.let_insert(self._may_insert)
            turn.insert_pressed.connect(self.insert_pressed)
            self._column.insertWidget(self._column.count() - 1, turn)  # before the stretch
        self._turns[exchange.id] = (question, answer)
        self._lay(exchange)

    def _lay(self, exchange: Exchange) -> None:
        is_last = exchange.id == self._exchanges[-1].id
        self._turns[exchange.id][1].show_exchange(exchange, self._server, is_last=is_last)

    def _lay_late(self) -> None:
        self._frame.stop()
        if not self.isVisible():
            return
        late, self._late = self._late, {}
        began = time.perf_counter()
        for exchange in late.values():
            self._lay(exchange)
        took_ms = (time.perf_counter() - began) * 1000
        self._frame.setInterval(max(_FRAME_MS, round(_REST * took_ms)))
        if not self._follows:
            self._unseen |= set(late)
            self._show_pill()

    def _show_earlier(self) -> None:
        self.setFocus()  # the button may go
        self.fill(self._exchanges, len(self._turns) + _MOST_AT_FIRST)
        self.verticalScrollBar().setValue(0)

    def _focus_moved(self) -> None:
        """The turns' bars show it."""
        if inside := self.widget():
            inside.update()

    def _announce(self, exchange: Exchange) -> None:
        if not exchange.running:
            length = count(len(exchange.answer.split()), "word")
            words = f"Offhook, {state_words(exchange, self._server)}, {length}"
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    # -- Qt's events ----------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_end()
        self._place_pill()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unfilled:
            self._fill()
        self._lay_late()
