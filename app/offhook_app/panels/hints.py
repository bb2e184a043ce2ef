"""The row above the code: where one is, and, only while a suggestion is shown, the keys that take it."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from offhook_app.panels import fonts
from offhook_app.state.keys import Key, of_layer

_LINGER_MS = 400  # while one types, suggestions come and go at every key; the row does not


def caps(key: Key) -> list[QLabel]:
    """One label for each key cap."""
    made = []
    for cap in key.caps:
        label = QLabel(cap)
        label.setProperty("cap", True)
        label.setFont(fonts.ui(11, QFont.Weight.Medium))
        label.setFixedHeight(17)
        made.append(label)
    return made


class KeyHints(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._gone = QTimer(self, singleShot=True, interval=_LINGER_MS)
        self._gone.timeout.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for key in (key for key in of_layer("ghost") if key.hinted):
            for cap in caps(key):
                row.addWidget(cap)
            words = QLabel(key.words)
            words.setFont(fonts.ui(12))
            row.addSpacing(3)
            row.addWidget(words)
            row.addSpacing(10)
        kept = QSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        kept.setRetainSizeWhenHidden(True)
        self.setSizePolicy(kept)
        self.setAccessibleName("Keys for the suggestion: Tab accepts, Control Right a word, Esc dismisses")
        self.hide()

    def offer(self, *, wanted: bool, coming: bool) -> None:
        """`coming`: the next suggestion is asked for, so they may stay a moment."""
        if wanted:
            self._gone.stop()
            self.show()
        elif not coming:
            self._gone.stop()
            self.hide()
        elif self.isVisible() and not self._gone.isActive():
            self._gone.start()


class ElidedLabel(QLabel):
    """Gives up its middle where there is no room, and then tells the whole on hover."""

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, words: str) -> None:
        self._whole = words
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fitting = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, self.width())
        self.setText(fitting)
        self.setToolTip(self._whole if fitting != self._whole else "")


class PathRow(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("pathRow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(26)
        self._path = ElidedLabel()
        self._path.setFont(fonts.ui(12))
        self.hints = KeyHints()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 6, 0)
        row.addWidget(self._path, 1)
        row.addWidget(self.hints)

    def set_parts(self, parts: list[str]) -> None:
        self._path.say("  ›  ".join(parts))
