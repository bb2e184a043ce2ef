"""What stands in the editor's place while no file is open."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from offhook_app.panels import fonts, style
from offhook_app.panels.hints import caps
from offhook_app.state.keys import BY_ID
from offhook_app.state.theme import Theme


class Empty(QWidget):
    open_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("empty")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = QLabel()
        title = QLabel("Open a file to begin")
        title.setFont(fonts.ui(16, QFont.Weight.DemiBold))
        title.setProperty("tone", "t1")
        words = QLabel("Suggestions come from your own code and from a small model.\nBoth stay on this computer.")
        words.setFont(fonts.ui(13))
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._open = QPushButton("Open a file")
        self._open.setFont(fonts.ui(13, QFont.Weight.DemiBold))
        self._open.setProperty("kind", "primary")
        self._open.clicked.connect(self.open_pressed)
        action = QHBoxLayout()
        action.setSpacing(4)
        action.addStretch(1)
        action.addWidget(self._open)
        action.addSpacing(8)
        for cap in caps(BY_ID["open"]):
            action.addWidget(cap)
        action.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addStretch(2)
        for widget in (self._icon, title, words):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        column.addLayout(action)
        column.addStretch(3)
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._icon.setPixmap(style.icon("folder-open", theme.t2).pixmap(QSize(32, 32)))
        self._open.setIcon(style.icon("folder-open", theme.onacc))
