"""The top row: the app, the file with its unsaved dot, and the few things one can open."""

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from offhook_app.panels import fonts, style
from offhook_app.panels.status_line import Dot
from offhook_app.state.keys import BY_ID
from offhook_app.state.theme import Theme


class Header(QWidget):
    open_pressed = Signal()
    latency_pressed = Signal()
    conversation_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(40)
        app = QLabel("Offhook")
        app.setFont(fonts.ui(13, QFont.Weight.DemiBold))
        app.setProperty("tone", "t1")
        self._icon, self._name, self._unsaved = QLabel(), QLabel(), Dot()
        self._name.setFont(fonts.ui(13, QFont.Weight.Medium))
        self._name.setProperty("tone", "t1")
        self._unsaved.setAccessibleName("Unsaved")
        self._open = self._button("open", "Open a file", self.open_pressed)
        self.latency = self._button("latency", "Latency", self.latency_pressed)
        self.conversation = self._button("conversation", "Conversation", self.conversation_pressed)
        for panel in (self.latency, self.conversation):
            panel.setCheckable(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(0)
        row.addWidget(app)
        row.addSpacing(20)
        row.addWidget(self._icon)
        row.addSpacing(6)
        row.addWidget(self._name)
        row.addSpacing(8)
        row.addWidget(self._unsaved)
        row.addStretch(1)
        row.addWidget(self._open)
        row.addSpacing(4)
        row.addWidget(self.latency)
        row.addSpacing(4)
        row.addWidget(self.conversation)
        self.show_file("", unsaved=False)
        self.recolour(theme)

    def recolour(self, theme: Theme) -> None:
        self._icon.setPixmap(style.icon("file-text", theme.t2).pixmap(14, 14))
        self._unsaved.set_colour(theme.warn)
        self._open.setIcon(style.icon("folder-open", theme.t2))
        self.latency.setIcon(style.icon("timer", theme.t2))
        self.conversation.setIcon(style.icon("chat-text", theme.t2))

    def show_file(self, name: str, *, unsaved: bool) -> None:
        self._name.setText(name)
        self._icon.setVisible(bool(name))
        self._unsaved.setVisible(unsaved)

    def _button(self, key: str, name: str, pressed: SignalInstance) -> QToolButton:
        keys = " ".join(BY_ID[key].caps)
        button = QToolButton()
        button.setIconSize(QSize(16, 16))
        button.setFixedSize(28, 28)
        button.setToolTip(f"{name} ({keys})")
        button.setAccessibleName(f"{name}, {keys}")
        button.clicked.connect(pressed)
        return button
