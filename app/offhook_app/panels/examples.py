"""What stands in the conversation's place while nothing was asked: one sentence, and three requests worth trying."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from offhook_app.panels import fonts, style
from offhook_app.state.context import OpenText, examples
from offhook_app.state.theme import Theme


class Examples(QWidget):
    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._icon = QLabel()
        title = QLabel("Ask about the code")
        title.setFont(fonts.ui(16, QFont.Weight.DemiBold))
        title.setProperty("tone", "t1")
        words = QLabel("Questions go to the deep model. What you send along is shown below, and nothing else is read.")
        words.setFont(fonts.ui(13))
        words.setWordWrap(True)
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._buttons = [QPushButton() for _ in range(3)]
        column = QVBoxLayout(self)
        column.setContentsMargins(32, 0, 32, 0)
        column.setSpacing(8)
        column.addStretch(2)
        column.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(4)
        column.addWidget(title, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(words)
        column.addSpacing(12)
        for button in self._buttons:
            button.setFont(fonts.ui(13))
            button.setProperty("kind", "example")
            button.clicked.connect(lambda _=False, pressed=button: self._press(pressed))
            column.addWidget(button)
        column.addStretch(3)
        self.recolour(theme)
        self.offer(None)

    def recolour(self, theme: Theme) -> None:
        self._icon.setPixmap(style.icon("chat-text", theme.t2).pixmap(QSize(32, 32)))

    def offer(self, opened: OpenText | None) -> None:
        self._requests = examples(opened)
        for button, words in zip(self._buttons, self._requests, strict=True):
            button.setText(words.replace("`", ""))

    def _press(self, button: QPushButton) -> None:
        self.chosen.emit(self._requests[self._buttons.index(button)])
