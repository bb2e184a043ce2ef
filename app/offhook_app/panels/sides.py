"""Code and conversation side by side, with a line between them to pull; where there is no room, one at a time."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QSplitterHandle, QWidget

from offhook_app.state.theme import Theme

WIDTH_PX = 416
_LEAST_PX, _MOST_PX = 340, 560
_LEAST_CODE_PX = 480
_NARROW_PX = 900
_GRAB_PX = 8
_NO_LIMIT_PX = 16777215


class Sides(QSplitter):
    moved = Signal()  # the side's width, or whether it is shown
    keyboard_left = Signal()  # what had it is hidden now

    def __init__(self, code: QWidget, side: QWidget, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._code, self._side = code, side
        self._width_px = WIDTH_PX
        self._wanted = False
        self.rule = QColor(theme.line)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # the keyboard's place while no file is open
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.addWidget(code)
        self.addWidget(side)
        self.setStretchFactor(0, 1)
        self.setStretchFactor(1, 0)
        self.splitterMoved.connect(self._pulled)
        self._arrange()

    def recolour(self, theme: Theme) -> None:
        self.rule = QColor(theme.line)
        self.update()

    @property
    def side_shown(self) -> bool:
        return self._wanted

    @property
    def side_alone(self) -> bool:
        return self._narrow and self._wanted

    @property
    def side_width_px(self) -> int:
        return self._width_px

    def show_side(self, on: bool) -> None:
        if on != self._wanted:
            self._wanted = on
            self._arrange()
            self.moved.emit()

    def to_code(self) -> None:
        """Where only one of the two has room, that is the code now."""
        if self._narrow:
            self.show_side(False)

    def restore(self, width_px: int, *, shown: bool) -> None:
        self._width_px = max(_LEAST_PX, min(_MOST_PX, width_px))
        self._wanted = shown
        self._arrange()

    @property
    def _narrow(self) -> bool:
        return self.width() < _NARROW_PX

    def _arrange(self) -> None:
        alone = self.side_alone
        focused = QApplication.focusWidget()
        hidden = self._code if alone else self._side if not self._wanted else None
        loses_keyboard = hidden is not None and focused is not None and hidden.isAncestorOf(focused)
        self._side.setMinimumWidth(0 if alone else _LEAST_PX)
        self._side.setMaximumWidth(_NO_LIMIT_PX if alone else _MOST_PX)
        self._code.setVisible(not alone)
        self._side.setVisible(self._wanted)
        if self._wanted and not alone:
            width = max(_LEAST_PX, min(self._width_px, self.width() - _LEAST_CODE_PX))
            self.setSizes([self.width() - width - 1, width])
        if loses_keyboard:
            self.keyboard_left.emit()

    def _pulled(self) -> None:
        self._width_px = self._side.width()
        self.moved.emit()

    def createHandle(self) -> QSplitterHandle:
        return _Handle(self.orientation(), self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


class _Handle(QSplitterHandle):
    """One pixel to see, eight to grab: the rest lies over its neighbours and lets them be seen."""

    def __init__(self, orientation: Qt.Orientation, sides: "Sides") -> None:
        super().__init__(orientation, sides)
        beside = _GRAB_PX - 1
        self.setContentsMargins(beside // 2, 0, beside - beside // 2, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        event.accept()  # Qt would set margins of its own

    def paintEvent(self, event: QPaintEvent) -> None:
        sides = self.splitter()
        if isinstance(sides, Sides):
            painter = QPainter(self)
            painter.fillRect(self.contentsRect(), sides.rule)
            painter.end()
