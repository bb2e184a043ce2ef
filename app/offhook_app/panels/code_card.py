"""A block of code in an answer: its language, its text as the editor would colour it, and two ways to take it."""

import math
from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QGuiApplication, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from offhook_app.editor.colours import PythonColours, formats_of, ranges
from offhook_app.panels import fonts, style
from offhook_app.panels.markdown import Block
from offhook_app.state.theme import Theme

_CODE_PX = 13
_PADDING_PX, _ABOVE_PX = 12, 8
_SAID_MS = 1500
_NAMES = {
    "python": "Python",
    "py": "Python",
    "js": "JavaScript",
    "ts": "TypeScript",
    "bash": "Shell",
    "sh": "Shell",
    "json": "JSON",
    "toml": "TOML",
    "yaml": "YAML",
    "html": "HTML",
    "css": "CSS",
    "sql": "SQL",
    "cpp": "C++",
}
_PYTHON = ("python", "py", "python3")


@cache
def _python() -> PythonColours:
    return PythonColours()


class _Code(QPlainTextEdit):
    """As high as its text; sideways it scrolls by itself, up and down with the transcript."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFont(fonts.code(_CODE_PX))
        self.document().setDocumentMargin(0)
        self.setViewportMargins(_PADDING_PX, _ABOVE_PX, _PADDING_PX, _ABOVE_PX)
        self.horizontalScrollBar().rangeChanged.connect(lambda *_: self.fit())

    def fit(self) -> None:
        bar = self.horizontalScrollBar()
        height = math.ceil(self.blockCount() * QFontMetricsF(self.font()).lineSpacing()) + 2 * _ABOVE_PX
        self.setFixedHeight(height + (bar.sizeHint().height() if bar.maximum() > 0 else 0))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeCard(QFrame):
    insert_pressed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("codeCard")
        self._theme, self._formats = theme, formats_of(theme)
        self._language = ""
        self._name = QLabel()
        self._name.setFont(fonts.ui(12))
        self._code = _Code()
        self._insert = self._button("Insert", "arrow-elbow-down-left", self._insert_pressed)
        self._copy = self._button("Copy", "copy", self._copy_pressed)
        self._say_copy_later = QTimer(self, singleShot=True, interval=_SAID_MS)
        self._say_copy_later.timeout.connect(lambda: self._copy.setText("Copy"))
        head = QWidget()
        head.setObjectName("codeHead")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        head.setFixedHeight(32)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 4, 0)
        row.setSpacing(2)
        row.addWidget(self._name)
        row.addStretch(1)
        row.addWidget(self._insert)
        row.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._code)

    @property
    def text(self) -> str:
        return self._code.toPlainText()

    def put(self, block: Block, *, settled: bool) -> None:
        """All of the code as it is by now; what is there already is not laid out again, and coloured again at the end."""
        code = block.code or ""
        self._language = block.language
        name = _NAMES.get(block.language, block.language.capitalize() or "Code")
        self._name.setText(name)
        self._code.setAccessibleName(f"{name}, {code.count(chr(10)) + 1} lines")
        old = self.text
        if code.startswith(old):
            first = self._code.blockCount() - 1
            cursor = QTextCursor(self._code.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(code[len(old) :])
        else:
            first = 0
            self._code.setPlainText(code)
        self._code.fit()
        self._colour(0 if settled else first)

    def let_insert(self, on: bool) -> None:
        self._insert.setEnabled(on)

    def _colour(self, first: int) -> None:
        """From line `first` on."""
        if self._language not in _PYTHON:
            return
        last = self._code.blockCount() - 1
        spans = _python().spans(_python().parse(self.text.encode("utf-16-le")), first, last)
        document = self._code.document()
        for line in range(first, last + 1):
            block = document.findBlockByNumber(line)
            block.layout().setFormats(ranges(spans.get(line, ()), block.length() - 1, self._formats))
        begin = document.findBlockByNumber(first).position()
        document.markContentsDirty(begin, document.characterCount() - begin)

    def _button(self, words: str, icon: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(words)
        button.setFont(fonts.ui(12, QFont.Weight.Medium))
        button.setProperty("kind", "small")
        button.setIcon(style.icon(icon, self._theme.t2))
        button.setIconSize(QSize(14, 14))
        button.setAccessibleName(f"{words} this code" + (" at the caret" if words == "Insert" else ""))
        button.clicked.connect(act)
        return button

    def _insert_pressed(self) -> None:
        self.insert_pressed.emit(self.text)

    def _copy_pressed(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self._copy.setText("Copied")
        self._say_copy_later.start()
