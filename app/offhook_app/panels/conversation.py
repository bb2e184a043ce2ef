"""The conversation beside the code: what was asked and answered, and where the next question is typed.

Arranges its parts and passes on between them; what a question's life is, `state.conversation` decides.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from offhook_app.editor.driver import Line
from offhook_app.panels import fonts
from offhook_app.panels.composer import Composer
from offhook_app.panels.conversation_driver import ConversationDriver
from offhook_app.panels.conversation_style import sheet
from offhook_app.panels.examples import Examples
from offhook_app.panels.transcript import Transcript
from offhook_app.state.context import Choice, Context, OpenText, context_of
from offhook_app.state.exchange import Exchange
from offhook_app.state.theme import Theme
from offhook_wire.messages import ServerEvent, ServerStatus

_LOOK_AGAIN_MS = 120  # the caret moves with every key


class ConversationPanel(QWidget):
    """`open_text` tells what file is open, and what of it is selected; `look` says that this may have changed."""

    left = Signal()  # back to the code
    insert_pressed = Signal(str)

    def __init__(
        self, line: Line, history_file: Path | None, open_text: Callable[[], OpenText | None], theme: Theme
    ) -> None:
        super().__init__()
        self.setObjectName("conversation")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Conversation")
        self._open_text = open_text
        self._choice: Choice = "near"
        self.driver = ConversationDriver(line, history_file)
        self.driver.setParent(self)
        self.transcript, self.composer, self.examples = Transcript(theme), Composer(theme), Examples(theme)
        self._clear, self._trouble, self._middle = QPushButton("Clear"), QLabel(), QStackedWidget()
        self._sure = QTimer(self, singleShot=True, interval=4000)
        self._look_soon = QTimer(self, singleShot=True, interval=_LOOK_AGAIN_MS)
        self._build()
        self._connect(line)
        self.recolour(theme)
        self._refill()

    def _build(self) -> None:
        head = QWidget()
        head.setObjectName("conversationHead")
        head.setFixedHeight(36)
        title = QLabel("Conversation")
        title.setFont(fonts.ui(12, QFont.Weight.DemiBold))
        title.setProperty("tone", "t1")
        self._clear.setFont(fonts.ui(12, QFont.Weight.Medium))
        self._clear.setProperty("kind", "small")
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 0, 8, 0)
        row.addWidget(title)
        row.addStretch(1)
        row.addWidget(self._clear)
        self._trouble.setObjectName("trouble")
        self._trouble.setFont(fonts.ui(12))
        self._trouble.setWordWrap(True)
        self._middle.addWidget(self.examples)
        self._middle.addWidget(self.transcript)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._trouble)
        column.addWidget(self._middle, 1)
        column.addWidget(self.composer)

    def _connect(self, line: Line) -> None:
        self.driver.shown.connect(self._show)
        self.driver.refilled.connect(self._refill)
        self.driver.not_kept.connect(lambda _: self._say_trouble())
        self.transcript.insert_pressed.connect(self.insert_pressed)
        self.transcript.again_pressed.connect(self._ask_again)
        self.examples.chosen.connect(self._take_example)
        self.composer.asked.connect(self._ask)
        self.composer.stopped.connect(self.driver.stop)
        self.composer.draft_changed.connect(self.driver.keep_draft)
        self.composer.chip.chosen.connect(self._choose)
        self.composer.field.left.connect(self.left)
        self.composer.field.scroll_pressed.connect(self.transcript.scroll_pages)
        self._clear.clicked.connect(self._clear_pressed)
        self._sure.timeout.connect(self._say_clear)
        self._look_soon.timeout.connect(self.look_now)
        line.received.connect(self._received)

    def recolour(self, theme: Theme) -> None:
        self.setStyleSheet(sheet(theme))
        for part in (self.transcript, self.composer, self.examples):
            part.recolour(theme)
        self.look_now()

    # -- what the window says -------------------------------------------------------------------------------------

    def open_folder(self, folder: str) -> bool:
        """Whether this folder's conversation is now shown, where it was another's before."""
        self.composer.keep_now()
        return self.driver.open_folder(folder)

    def look(self) -> None:
        """The file, the caret or the selection is another one. Costs a key nothing while nobody sees the chip."""
        if self.isVisible() and not self._look_soon.isActive():
            self._look_soon.start()

    def look_now(self) -> None:
        self._look_soon.stop()
        opened = self._open_text()
        self.composer.chip.offer(opened, self._context(opened), self._choice)
        self.transcript.let_insert(opened is not None and not opened.read_only)
        if self._middle.currentWidget() is self.examples:
            self.examples.offer(opened)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look_now()

    def close_conversation(self) -> None:
        self.composer.keep_now()
        self.driver.close()

    # -- what the person does -------------------------------------------------------------------------------------

    def _ask(self, question: str) -> None:
        context = self._context(self._open_text())
        self.composer.taken()
        self.driver.ask(question, context)

    def _ask_again(self) -> None:
        self.composer.field.setFocus()
        self.driver.ask_again()

    def _take_example(self, question: str) -> None:
        self.composer.set_text(question)
        self.composer.field.setFocus()

    def _choose(self, choice: Choice) -> None:
        self._choice = choice
        self.look_now()

    def _clear_pressed(self) -> None:
        """The first press asks, the second one clears; a while later the first is forgotten."""
        if not self._sure.isActive():
            self._clear.setText("Press again to clear all")
            self._sure.start()
            return
        self._sure.stop()
        self.composer.field.setFocus()
        self.driver.clear()

    def _context(self, opened: OpenText | None) -> Context | None:
        return context_of(opened, self._choice) if opened else None

    def focusNextPrevChild(self, forward: bool) -> bool:
        """In reading order, whenever a part was made."""
        parts = [part for part in self.findChildren(QWidget) if part.isVisible() and part.isEnabled()]
        stops = [part for part in parts if part.focusPolicy() & Qt.FocusPolicy.TabFocus]
        stops.sort(key=self._place)
        focused = self.focusWidget()
        after = stops.index(focused) + (1 if forward else -1) if focused in stops else -1
        if not 0 <= after < len(stops):
            return super().focusNextPrevChild(forward)
        stops[after].setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
        if self.transcript.isAncestorOf(stops[after]):
            self.transcript.ensureWidgetVisible(stops[after])
        return True

    def _place(self, part: QWidget) -> tuple[int, int]:
        """Where it stands: row, column."""
        middle = part.mapTo(self, part.rect().center())
        return middle.y(), middle.x()

    # -- what comes -----------------------------------------------------------------------------------------------

    def _received(self, event: ServerEvent) -> None:
        if isinstance(event, ServerStatus):
            self.transcript.say_server(event)

    def _show(self, exchange: Exchange) -> None:
        self.transcript.show_exchange(exchange)
        self.transcript.set_reads_from(self.driver.reads_from)
        self._say_standing()

    def _refill(self) -> None:
        self.transcript.set_reads_from(self.driver.reads_from)
        self.transcript.fill(self.driver.exchanges)
        self.composer.set_text(self.driver.draft())
        self._say_standing()
        self._say_trouble()
        self._say_clear()

    def _say_standing(self) -> None:
        begun = bool(self.driver.exchanges)
        if not begun:
            self.examples.offer(self._open_text())
        self._middle.setCurrentWidget(self.transcript if begun else self.examples)
        self._clear.setVisible(begun)
        self.composer.show_running(self.driver.running)

    def _say_clear(self) -> None:
        self._clear.setText("Clear")
        self._clear.setAccessibleName("Clear this conversation, press twice")

    def _say_trouble(self) -> None:
        self._trouble.setText(self.driver.trouble)
        self._trouble.setVisible(bool(self.driver.trouble))
