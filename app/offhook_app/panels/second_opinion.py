"""The chip beside a suggestion that others stand behind: who has one, and the key that turns to it. Never over text."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel

from offhook_app.editor.view import CodeView
from offhook_app.panels import fonts
from offhook_app.panels.hints import caps
from offhook_app.state.keys import BY_ID

_HEIGHT = 20
_ASIDE_PX = 12


class SecondOpinion(QFrame):
    def __init__(self, view: CodeView) -> None:
        super().__init__(view.viewport())
        self.setObjectName("secondOpinion")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._view = view
        self._words = QLabel()
        self._words.setFont(fonts.ui(12, QFont.Weight.Medium))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(4)
        row.addWidget(self._words)
        self._keys = caps(BY_ID["next"])
        for cap in self._keys:
            row.addWidget(cap)
        self.setFixedHeight(_HEIGHT)
        self.hide()
        view.updateRequest.connect(lambda *_: self._place())

    @property
    def words(self) -> str:
        return self._words.text()

    def say(self, words: str, *, key: bool) -> None:
        """`words` empty: nothing to say. `key`: whether there is something to turn to."""
        self._words.setText(words)
        self.setAccessibleName(f"{words}, Alt and full stop" if key else words)
        for cap in self._keys:
            cap.setVisible(key)
        self._place()

    def _place(self) -> None:
        """At the right of the ghost's first line, where there is room."""
        if not self._words.text():
            self.hide()
            return
        self.adjustSize()
        caret = self._view.cursorRect()
        left = self._view.viewport().width() - self.width() - _ASIDE_PX
        fits = self._view.ink_end_px() + _ASIDE_PX <= left
        self.move(left, caret.center().y() - _HEIGHT // 2)
        self.setVisible(fits)
