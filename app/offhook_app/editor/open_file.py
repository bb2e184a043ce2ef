"""One open file: what is on the disk, the view of its text, the driver of its suggestions. Not where it is shown."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal
from PySide6.QtGui import QFont, QTextCursor

from offhook_app.editor import file, indent
from offhook_app.editor.buffer import holds, raw_text
from offhook_app.editor.drafts import Drafts
from offhook_app.editor.driver import Driver, Line
from offhook_app.editor.highlight import Highlighter
from offhook_app.editor.view import CodeView
from offhook_app.state.context import OpenText
from offhook_app.state.editing import Opened
from offhook_app.state.line_state import LineState
from offhook_app.state.measured import Measured
from offhook_app.state.theme import Theme
from offhook_wire.privacy import never_sent
from offhook_wire.text import Point

_DRAFT_AFTER_MS = 1000  # what a crash of the app can cost at most
_LANGUAGES = {
    ".py": ("python", "Python"),
    ".pyi": ("python", "Python"),
    ".js": ("javascript", "JavaScript"),
    ".ts": ("typescript", "TypeScript"),
    ".rs": ("rust", "Rust"),
    ".go": ("go", "Go"),
    ".c": ("c", "C"),
    ".h": ("c", "C"),
    ".cpp": ("cpp", "C++"),
    ".java": ("java", "Java"),
    ".sh": ("shellscript", "Shell"),
    ".md": ("markdown", "Markdown"),
    ".toml": ("toml", "TOML"),
    ".json": ("json", "JSON"),
    ".yaml": ("yaml", "YAML"),
    ".yml": ("yaml", "YAML"),
    ".html": ("html", "HTML"),
    ".css": ("css", "CSS"),
}


@dataclass(frozen=True, slots=True)
class Room:
    """What every open file of one window shares. `drafts` is None where nothing may be kept."""

    line: Line
    measured: Measured
    drafts: Drafts | None


class OpenFile(QObject):
    """`from_draft`: the text shown is an unsaved one from last time. `refused` says why it cannot be edited."""

    changed_on_disk = Signal()
    draft_failed = Signal(str)  # from any thread

    def __init__(self, path: Path, room: Room, theme: Theme, font: QFont, prefix: str) -> None:
        """Raises FileProblem."""
        super().__init__()
        self._room = room
        self.saved = file.load(path)
        self.language_id, self.language = _LANGUAGES.get(path.suffix.lower(), ("plaintext", "Plain text"))
        self.view = CodeView(theme, font)
        self.view.setPlainText(self.saved.text)
        self.refused = ""
        if not holds(self.view.document(), self.saved.text):
            self.refused = f"{path.name} holds signs that cannot be edited here without loss, so it is read-only."
            self.view.setReadOnly(True)
        self.from_draft = self._take_draft()
        self.driver = Driver(self.view, room.line, self._opened(prefix), room.measured)
        self._highlighter = Highlighter(self.view, theme) if self.language_id == "python" else None
        self._draft_soon = QTimer(self, singleShot=True, interval=_DRAFT_AFTER_MS)
        self._draft_soon.timeout.connect(self._keep_draft_soon)
        self.driver.edited.connect(self._edited)
        self._watcher = QFileSystemWatcher([str(path)], self)
        self._watcher.fileChanged.connect(self._disk_changed)

    @property
    def path(self) -> Path:
        return self.saved.path

    @property
    def text(self) -> str:
        return raw_text(self.view.document())

    @property
    def unsaved(self) -> bool:
        return self.view.document().isModified()

    @property
    def indent_words(self) -> str:
        return "Tabs" if "\n\t" in self.saved.text else "4 spaces"

    @property
    def never_sent(self) -> bool:
        return any(never_sent(str(place)) for place in (self.path, self.path.resolve()))

    @property
    def as_context(self) -> OpenText:
        """What a question may take along."""
        cursor, blocks = self.view.textCursor(), self.view.document()
        selected = None
        if cursor.hasSelection():
            last = blocks.findBlock(cursor.selectionEnd())
            behind_a_line = last.position() == cursor.selectionEnd()
            first_line = blocks.findBlock(cursor.selectionStart()).blockNumber()
            selected = (first_line, max(first_line, last.blockNumber() - behind_a_line))
        language = "" if self.language_id == "plaintext" else self.language_id
        lines = self.view.buffer.text.lines
        facts = (self.never_sent, bool(self.refused))
        return OpenText(self.path.name, language, lines, cursor.blockNumber(), selected, *facts)

    def insert(self, code: str) -> None:
        """At the caret and indented as its line is, in place of what is selected, as one undo step."""
        self.view.ghost.lift()
        self.view.insert(indent.at_caret(code, self.view.before_caret()), "paste")
        self.view.settled.emit()

    def start(self, line: LineState) -> None:
        self.driver.start(line)

    def close(self) -> None:
        """What is not saved stays as a draft. Raises FileProblem where it could not be kept."""
        self._draft_soon.stop()
        self._write_draft()
        self._watcher.fileChanged.disconnect(self._disk_changed)
        self.driver.close()

    def recolour(self, theme: Theme) -> None:
        self.view.recolour(theme)
        if self._highlighter:
            self._highlighter.recolour(theme)

    def go_to(self, line: int, column: int) -> None:
        """Zero-based, in code points; past the end means the end."""
        text = self.view.buffer.text
        line = max(0, min(line, len(text.lines) - 1))
        point = Point(line, max(0, min(column, len(text.lines[line]))))
        cursor = self.view.textCursor()
        cursor.setPosition(self.view.buffer.position(point))
        self.view.setTextCursor(cursor)
        self.view.centerCursor()

    # -- the disk -------------------------------------------------------------------------------------------------

    def save(self, *, over_changes: bool = False) -> None:
        """Raises ChangedOnDisk, FileProblem; the text stays as it is, and as a draft."""
        self.saved = file.save(self.saved, self.text, over_changes=over_changes)
        self.view.document().setModified(False)
        self._drop_draft()
        self._watch()

    def reload(self) -> None:
        """Takes what is on the disk, as one undo step. Raises FileProblem."""
        self.saved = file.load(self.path)
        self._replace(self.saved.text)
        self.view.document().setModified(False)
        self._drop_draft()

    def keep_draft(self) -> None:
        try:
            self._write_draft()
        except file.FileProblem as e:
            self.draft_failed.emit(str(e))

    def _keep_draft_soon(self) -> None:
        if not self.unsaved:
            self._drop_draft()
        elif self._room.drafts:
            self._room.drafts.keep_soon(self.path, self.view.buffer.text.lines[:], self.draft_failed.emit)

    def _write_draft(self) -> None:
        if not self.unsaved:
            self._drop_draft()
        elif self._room.drafts:
            self._room.drafts.keep(self.path, self.text)

    def _drop_draft(self) -> None:
        self._draft_soon.stop()
        if self._room.drafts:
            self._room.drafts.drop(self.path)

    def _take_draft(self) -> bool:
        draft = self._room.drafts.of(self.path) if self._room.drafts and not self.refused else None
        if draft is None or draft == self.saved.text:
            return False
        self._replace(draft)
        return True

    def _replace(self, text: str) -> None:
        """The whole text, as one undo step, the caret left where it was."""
        at = self.view.buffer.point(self.view.textCursor().position())
        cursor = QTextCursor(self.view.document())
        with self.view.edits("program"):
            cursor.beginEditBlock()
            cursor.select(QTextCursor.SelectionType.Document)
            cursor.insertText(text)
            cursor.endEditBlock()
        self.go_to(at.line, at.column)

    def _edited(self) -> None:
        if not self._draft_soon.isActive():
            self._draft_soon.start()

    def _watch(self) -> None:
        if str(self.path) not in self._watcher.files():
            self._watcher.addPath(str(self.path))

    def _disk_changed(self) -> None:
        if self.path.exists():
            self._watch()
        if file.changed_on_disk(self.saved):
            self.changed_on_disk.emit()

    def _opened(self, prefix: str) -> Opened:
        return Opened(
            self.path.resolve().as_uri(),
            self.path.name,
            self.language_id,
            self.text,
            prefix,
            self.never_sent,
            bool(self.refused),
        )
