"""The top row of the latency drawer: its page, which key is shown, and what one can do with it."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from offhook_app.panels import style
from offhook_app.panels.fit_row import selectable
from offhook_app.state.theme import Theme

HEIGHT = 36


class OverlayHead(QWidget):
    copy_pressed = Signal()
    close_pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("overlayHead")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._theme = theme
        tab = selectable(12, "t1", QFont.Weight.DemiBold)
        tab.setObjectName("overlayTab")
        tab.setText("Keystroke")
        tab.setFixedHeight(HEIGHT - 1)
        self.whence = selectable(12)
        self._copy = _button("Copy these figures as JSON")
        self._copy.clicked.connect(self.copy_pressed)
        self._pause = _button("Pause")
        self._pause.setCheckable(True)
        self._pause.toggled.connect(self._say_pause)
        self._close = _button("Close latency (Alt 2)")
        self._close.clicked.connect(self.close_pressed)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 1)
        row.setSpacing(4)
        row.addWidget(tab)
        row.addStretch(1)
        row.addWidget(self.whence)
        row.addSpacing(12)
        for button in (self._copy, self._pause, self._close):
            row.addWidget(button)
        self.recolour(theme)

    @property
    def paused(self) -> bool:
        return self._pause.isChecked()

    def recolour(self, theme: Theme) -> None:
        self._theme = theme
        self._copy.setIcon(style.icon("copy", theme.t2))
        self._close.setIcon(style.icon("x", theme.t2))
        self._say_pause()

    def _say_pause(self) -> None:
        """Words and icon say what a press does next."""
        words = "Go on" if self.paused else "Pause"
        self._pause.setIcon(style.icon("play" if self.paused else "pause", self._theme.t2))
        self._pause.setToolTip(words)
        self._pause.setAccessibleName(f"Pause, toggle, {'on' if self.paused else 'off'}")


def _button(words: str) -> QToolButton:
    button = QToolButton()
    button.setIconSize(QSize(14, 14))
    button.setFixedSize(24, 24)
    button.setToolTip(words)
    button.setAccessibleName(words)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
