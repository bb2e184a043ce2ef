"""The window: header, notices, the code, the latency drawer, the status line. It arranges and passes on; rules live in `state`.

Nothing here asks a question in a dialog, and closing never loses text: what is not saved stays as a draft.
"""

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QCloseEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QFileDialog, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from offhook_app.editor.drafts import Drafts
from offhook_app.editor.driver import Line
from offhook_app.editor.file import ChangedOnDisk, FileProblem
from offhook_app.editor.folder import folder_of
from offhook_app.editor.open_file import OpenFile, Room
from offhook_app.panels import fonts, panes, style
from offhook_app.panels.conversation import ConversationPanel
from offhook_app.panels.empty import Empty
from offhook_app.panels.header import Header
from offhook_app.panels.hints import PathRow
from offhook_app.panels.model_notices import ModelNotices
from offhook_app.panels.notice import Notice, NoticeBar
from offhook_app.panels.overlay import Overlay
from offhook_app.panels.panes import Pane
from offhook_app.panels.second_opinion import SecondOpinion
from offhook_app.panels.sides import Sides
from offhook_app.panels.status_line import StatusLine
from offhook_app.state.context import OpenText
from offhook_app.state.keys import KEYS
from offhook_app.state.line_state import LineState
from offhook_app.state.measured import Measured
from offhook_app.state.status import Standing, chip_words, download_words, line_words, suggestion_words
from offhook_app.state.theme import DARK, LIGHT, Theme
from offhook_wire.messages import ServerEvent, ServerStatus, UsageWatch, WorkspaceDidChange
from offhook_wire.privacy import never_sent

_WITH_GHOST = {"arriving", "shown", "typed_into", "cut", "white"}
_COMING = {"waiting", "thinking"}


def system_theme() -> Theme:
    """Dark where the system does not tell."""
    light = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Light
    return LIGHT if light else DARK


def _column(*parts: QWidget) -> QWidget:
    """One above the other, with nothing between them."""
    made = QWidget()
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for part in parts:
        column.addWidget(part, 1 if isinstance(part, (QStackedWidget, Sides)) else 0)
    return made


class MainWindow(QMainWindow):
    def __init__(
        self,
        line: Line,
        *,
        theme: Theme | None = None,
        drafts_folder: Path | None = None,
        history_file: Path | None = None,
    ) -> None:
        super().__init__()
        fonts.install()
        self._theme = theme or system_theme()
        self._line_state = LineState("connecting")
        self._server: ServerStatus | None = None
        self._standing = Standing("idle")
        self._measured = Measured()
        self._line = line
        self._room = Room(line, self._measured, Drafts(drafts_folder) if drafts_folder else None)
        self._prefixes = (f"d{n}" for n in itertools.count(1))
        self._code_px = fonts.CODE_PX
        self.file: OpenFile | None = None
        self._second: SecondOpinion | None = None
        self._build(history_file)
        self._add_actions()
        self._restyle()
        if theme is None:
            QGuiApplication.styleHints().colorSchemeChanged.connect(lambda _: self.set_theme(system_theme()))
        line.received.connect(self._received)
        line.state.connect(self._line_changed)
        self._say_line()
        self.resize(1100, 760)

    # -- building -------------------------------------------------------------------------------------------------

    def _build(self, history_file: Path | None) -> None:
        self.setWindowTitle("Offhook")
        self.setMinimumSize(720, 480)
        self.header, self.notices, self.path_row = Header(self._theme), NoticeBar(self._theme), PathRow()
        self.empty, self.overlay = Empty(self._theme), Overlay(self._measured, lambda: self._line.figures, self._theme)
        self.status = StatusLine(self._theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self.path_row.hide()
        self._models = ModelNotices(self.notices, self._line)
        self.conversation = ConversationPanel(self._line, history_file, self._open_text, self._theme)
        code = _column(self.notices, self.path_row, self._stack, self.overlay)
        self.sides = Sides(code, self.conversation, self._theme)
        whole = _column(self.header, self.sides, self.status)
        whole.setObjectName("chrome")
        self.setCentralWidget(whole)
        whole.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        whole.setFocus()  # no button has the keyboard by itself
        self.header.open_pressed.connect(self.choose_file)
        self.empty.open_pressed.connect(self.choose_file)
        for pressed in (self.header.latency_pressed, self.overlay.closed, self.status.line_pressed):
            pressed.connect(self.toggle_latency)
        self.header.conversation_pressed.connect(self.toggle_conversation)
        self.conversation.left.connect(self._to_code)
        self.conversation.insert_pressed.connect(self._insert)
        self.conversation.composer.asked.connect(lambda _: self._models.wants("deep"))
        self.sides.moved.connect(self._conversation_moved)
        self.sides.keyboard_left.connect(self._focus_what_is_seen)
        self.notices.keyboard_left.connect(self._focus_what_is_seen)

    def _add_actions(self) -> None:
        """Every key of the table that is not the ghost's own."""
        does: dict[str, Callable[[], object]] = {
            "open": self.choose_file,
            "save": self.save,
            "quit": self.close,
            "latency": self.toggle_latency,
            "conversation": self.toggle_conversation,
            "composer": self.ask,
            "stop_answer": self.conversation.driver.stop,
            "pane": lambda: self._step_panes(1),
            "pane_before": lambda: self._step_panes(-1),
            "larger": lambda: self._zoom(1),
            "smaller": lambda: self._zoom(-1),
            "suggest": lambda: self._ask_for("invoke"),
            "more": lambda: self._ask_for("more"),
        }
        for key in (key for key in KEYS if key.layer != "ghost"):
            action = QAction(key.words, self)
            action.setShortcuts([QKeySequence(sequence) for sequence in (key.sequence, *key.also)])
            action.triggered.connect(lambda _=False, do=does[key.id]: do())
            self.addAction(action)

    def _restyle(self) -> None:
        self.setPalette(style.palette(self._theme))
        self.setStyleSheet(style.sheet(self._theme))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._restyle()
        for part in (self.header, self.notices, self.empty, self.overlay, self.status, self.conversation, self.sides):
            part.recolour(theme)
        if self.file:
            self.file.recolour(theme)

    # -- files ----------------------------------------------------------------------------------------------------

    def choose_file(self) -> None:
        start = str(self.file.path.parent) if self.file else ""
        name, _ = QFileDialog.getOpenFileName(self, "Open a file", start)
        if name:
            self.open_path(Path(name))

    def open_path(self, path: Path, at: tuple[int, int] | None = None) -> bool:
        """Shows the file; `at` is line and column, zero-based. What was open and unsaved stays as a draft."""
        self.notices.drop("open")
        if self.file and self.file.path == path.absolute():
            if at:
                self.file.go_to(*at)
            return True
        try:
            opened = OpenFile(path.absolute(), self._room, self._theme, fonts.code(self._code_px), next(self._prefixes))
            self._close_file()
        except FileProblem as e:
            self._warn("open", "warning-circle", str(e))
            return False
        if not never_sent(str(opened.path)):
            self._line.send(WorkspaceDidChange([folder_of(opened.path).resolve().as_uri()]))
        self._show(opened)
        if at:
            opened.go_to(*at)
        opened.start(self._line_state)
        return True

    def _show(self, opened: OpenFile) -> None:
        self.file = opened
        opened.view.document().modificationChanged.connect(self._say_file)
        opened.view.cursorPositionChanged.connect(self._say_position)
        opened.view.selectionChanged.connect(self.conversation.look)
        opened.view.cursorPositionChanged.connect(self.conversation.look)
        self._second = SecondOpinion(opened.view)
        opened.driver.standing.connect(self._suggestions_changed)
        opened.changed_on_disk.connect(self._ask_about_disk)
        opened.draft_failed.connect(self._draft_failed)
        self._stack.addWidget(opened.view)
        self._stack.setCurrentWidget(opened.view)
        self.path_row.show()
        self.path_row.set_parts([*opened.path.parent.parts[-2:], opened.path.name])
        self._show_conversation_of(opened.path)
        self.sides.to_code()
        opened.view.setFocus()
        self._say_file()
        self._say_position()
        if opened.refused:
            self._warn("refused", "lock-simple", opened.refused)
        if opened.from_draft:
            words = "Your unsaved edits from last time are back."
            keep, leave = ("Keep", lambda: self.notices.drop("draft")), ("Use the file on disk", self._reload)
            self.notices.put("draft", Notice("ok", "clock-counter-clockwise", words, (keep, leave)))

    def _close_file(self) -> None:
        """Raises FileProblem where the draft could not be kept."""
        if self.file is None:
            return
        self.file.close()
        self._stack.removeWidget(self.file.view)
        self.file.view.deleteLater()
        self.file.deleteLater()
        self.file = None
        for cause in ("disk", "save", "refused", "draft"):
            self.notices.drop(cause)

    def save(self) -> None:
        self._try_saving(over_changes=False)

    def _try_saving(self, *, over_changes: bool) -> None:
        if self.file is None or self.file.refused:
            return
        try:
            self.file.save(over_changes=over_changes)
        except ChangedOnDisk:
            self._ask_about_disk()
        except FileProblem as e:
            self.file.keep_draft()
            words = f"{e} Your text is kept as a draft."
            self.notices.put("save", Notice("bad", "warning-circle", words, (("Try again", self.save),)))
        else:
            for cause in ("save", "disk", "draft"):
                self.notices.drop(cause)
            self._say_file()

    def _ask_about_disk(self) -> None:
        if self.file is None:
            return
        mine = ("Keep mine", lambda: self._try_saving(over_changes=True))
        words = f"{self.file.path.name} changed on disk."
        self.notices.put("disk", Notice("warn", "warning", words, (("Reload", self._reload), mine)))

    def _reload(self) -> None:
        if self.file is None:
            return
        try:
            self.file.reload()
        except FileProblem as e:
            self._warn("open", "warning-circle", str(e))
        else:
            self.notices.drop("disk")
            self.notices.drop("draft")

    def closeEvent(self, event: QCloseEvent) -> None:
        try:
            self._close_file()
        except FileProblem as e:
            self._warn("draft", "warning-circle", f"{e} Save the file before you quit.")
            event.ignore()
            return
        self.conversation.close_conversation()
        event.accept()

    # -- words ----------------------------------------------------------------------------------------------------

    def _warn(self, cause: str, icon: str, words: str) -> None:
        self.notices.put(cause, Notice("bad", icon, words, (("Close", lambda: self.notices.drop(cause)),)))

    def _draft_failed(self, words: str) -> None:
        self._warn("draft", "warning", words)

    def _say_file(self) -> None:
        if self.file is None:
            return
        self.header.show_file(self.file.path.name, unsaved=self.file.unsaved)
        self.setWindowTitle(f"{self.file.path.name} – Offhook")
        saved = self.file.saved
        self.status.set_facts("", self.file.indent_words, saved.encoding, saved.line_end, self.file.language)
        self._say_position()

    def _say_position(self) -> None:
        if self.file is None:
            return
        cursor = self.file.view.textCursor()
        self.status.set_position(f"{cursor.blockNumber() + 1}:{cursor.positionInBlock() + 1}")

    def _say_line(self) -> None:
        self.status.set_line(*line_words(self._line_state, self._server))
        self.status.download.setText(download_words(self._server))
        shown = suggestion_words(self._standing, self._server) if self.file else "Suggestions: open a file"
        self.status.suggestion.say(shown)

    def _suggestions_changed(self, standing: Standing) -> None:
        self._standing = standing
        self.path_row.hints.offer(wanted=standing.stage in _WITH_GHOST, coming=standing.stage in _COMING)
        if self._second:
            self._second.say(chip_words(standing), key=standing.choices > 1)
        self._say_line()

    def _received(self, event: ServerEvent) -> None:
        self.overlay.received(event)
        if not isinstance(event, ServerStatus):
            return
        self._server = event
        self._models.hears(event)
        self._say_line()

    def _line_changed(self, state: LineState) -> None:
        came_up = state.up and not self._line_state.up
        self._line_state = state
        if came_up and self.overlay.isVisible():
            self._watch_usage()
        if state.round_trip_ms is not None:
            self._measured.trips.add(state.round_trip_ms, time.monotonic())
        lost = state.kind == "closed" or (state.kind == "waiting" and state.attempt > 1)
        if lost:
            words = "Off the line. Editing and saving work; suggestions wait."
            self.notices.put("line", Notice("warn", "wifi-slash", words))
        elif state.up:
            self.notices.drop("line")
        self._say_line()

    # -- keys -----------------------------------------------------------------------------------------------------

    def toggle_latency(self) -> None:
        self.overlay.setVisible(not self.overlay.isVisible())
        self.header.latency.setChecked(self.overlay.isVisible())
        self._watch_usage()

    def _watch_usage(self) -> None:
        """The server looks at its workers only while somebody looks at the figures."""
        self._line.send(UsageWatch(self.overlay.isVisible()))

    # -- conversation ---------------------------------------------------------------------------------------------

    def toggle_conversation(self) -> None:
        self.sides.show_side(not self.sides.side_shown)

    def ask(self) -> None:
        """The next key goes to the composer."""
        self.sides.show_side(True)
        self.conversation.composer.field.setFocus()

    def _to_code(self) -> None:
        self.sides.to_code()
        self._focus_code()

    def _focus_what_is_seen(self) -> None:
        if self.sides.side_alone:
            self.conversation.composer.field.setFocus()
        else:
            self._focus_code()

    def _focus_code(self) -> None:
        (self.file.view if self.file else self.sides).setFocus()

    def _insert(self, code: str) -> None:
        if self.file and not self.file.refused:
            self._to_code()
            self.file.insert(code)

    def _open_text(self) -> OpenText | None:
        return self.file.as_context if self.file else None

    def _show_conversation_of(self, path: Path) -> None:
        if self.conversation.open_folder(str(folder_of(path).resolve())) and (
            place := self.conversation.driver.place()
        ):
            width_px, shown = place
            self.sides.restore(width_px, shown=shown)
        self.header.conversation.setChecked(self.sides.side_shown)
        self.conversation.look_now()

    def _conversation_moved(self) -> None:
        self.header.conversation.setChecked(self.sides.side_shown)
        self.conversation.driver.keep_place(self.sides.side_width_px, shown=self.sides.side_shown)

    def _step_panes(self, by: int) -> None:
        code = Pane(self._stack, self.file.view) if self.file else Pane(self.empty)
        asking = Pane(self.conversation, self.conversation.composer.field)
        panes.step([Pane(self.header), Pane(self.notices), code, Pane(self.overlay), asking, Pane(self.status)], by)

    def _ask_for(self, what: Literal["invoke", "more"]) -> None:
        if what == "more":
            self._models.wants("deep")
        if self.file:
            getattr(self.file.driver, what)()

    def _zoom(self, by: int) -> None:
        self._code_px = max(fonts.LEAST_CODE_PX, min(fonts.MOST_CODE_PX, self._code_px + by))
        if self.file:
            self.file.view.set_code_font(fonts.code(self._code_px))
