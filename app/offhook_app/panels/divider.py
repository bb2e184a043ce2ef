"""A word or two between turns, with a line on both sides."""

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from offhook_app.panels import fonts


class Divider(QWidget):
    def __init__(self, words: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        label = QLabel(words)
        label.setFont(fonts.ui(12))
        for part in (self._rule(), label, self._rule()):
            row.addWidget(part, 0 if part is label else 1)

    @staticmethod
    def _rule() -> QFrame:
        rule = QFrame()
        rule.setObjectName("rule")
        rule.setFixedHeight(1)
        return rule
