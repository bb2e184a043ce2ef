"""The style sheet and palette made from a theme. Sizes and radii are those of the design page, in logical pixels."""

import qtawesome
from PySide6.QtGui import QColor, QIcon, QPalette

from offhook_app.state.theme import Theme


def icon(name: str, colour: str, *, disabled: str | None = None) -> QIcon:
    """A Phosphor icon, `name` without its prefix."""
    made: QIcon = qtawesome.icon(f"ph.{name}", color=colour, color_disabled=disabled or colour)
    return made


def palette(theme: Theme) -> QPalette:
    made = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, theme.chrome),
        (role.WindowText, theme.t1),
        (role.Base, theme.editor),
        (role.AlternateBase, theme.card),
        (role.Text, theme.t1),
        (role.Button, theme.card),
        (role.ButtonText, theme.t1),
        (role.ToolTipBase, theme.card),
        (role.ToolTipText, theme.t1),
        (role.PlaceholderText, theme.t3),
        (role.Highlight, theme.sel),
        (role.HighlightedText, theme.t1),
        (role.Accent, theme.accent),
    ):
        made.setColor(which, QColor(colour))
    return made


def sheet(theme: Theme) -> str:
    edge = QColor(theme.edge)
    thumb = f"rgba({edge.red()}, {edge.green()}, {edge.blue()}, 115)"
    return f"""
QMainWindow, QWidget#chrome {{ background: {theme.chrome}; }}
QWidget#header, QWidget#statusLine {{ background: {theme.chrome}; }}
QWidget#header {{ border-bottom: 1px solid {theme.line}; }}
QWidget#statusLine {{ border-top: 1px solid {theme.line}; }}
QWidget#pathRow, QWidget#empty {{ background: {theme.editor}; }}
QPlainTextEdit {{ background: {theme.editor}; color: {theme.t1}; border: none;
    selection-background-color: {theme.sel}; selection-color: {theme.t1}; }}
QWidget#overlayHead {{ border-bottom: 1px solid {theme.line}; }}
QWidget#trips {{ background: {theme.card}; border: 1px solid {theme.line}; border-radius: 4px; }}
QLabel#overlayTab {{ border-bottom: 2px solid {theme.accent}; }}
QLabel {{ color: {theme.t2}; background: transparent; }}
QLabel[tone="t1"] {{ color: {theme.t1}; }}
QLabel[tone="t3"] {{ color: {theme.t3}; }}
QLabel[tone="ok"] {{ color: {theme.ok}; }}
QLabel[tone="warn"] {{ color: {theme.warn}; }}
QLabel[tone="bad"] {{ color: {theme.bad}; }}
QFrame#secondOpinion {{ background: {theme.card}; border: 1px solid {theme.line}; border-radius: 6px; }}
QLabel[cap="true"] {{ color: {theme.t2}; background: {theme.card}; border: 1px solid {theme.line};
    border-radius: 4px; padding: 0 5px; }}
QPushButton {{ color: {theme.t1}; background: transparent; border: 1px solid {theme.edge}; border-radius: 6px;
    padding: 0 12px; min-height: 26px; }}
QPushButton:hover {{ background: {theme.hover}; }}
QPushButton:focus {{ border: 2px solid {theme.accent}; padding: 0 11px; min-height: 24px; }}
QPushButton[kind="primary"] {{ color: {theme.onacc}; background: {theme.accent}; border: none; padding: 0 14px;
    min-height: 36px; }}
QPushButton[kind="primary"]:focus {{ border: 2px solid {theme.t1}; padding: 0 12px; min-height: 32px; }}
QPushButton[kind="quiet"] {{ color: {theme.t2}; border: none; }}
QPushButton[kind="quiet"]:focus {{ border: 2px solid {theme.accent}; padding: 0 10px; }}
QToolButton {{ color: {theme.t2}; background: transparent; border: none; border-radius: 6px; padding: 0 6px; }}
QToolButton:hover {{ background: {theme.hover}; }}
QToolButton:checked {{ background: {theme.raised}; }}
QToolButton:focus {{ border: 2px solid {theme.accent}; }}
QWidget#notice[tone="warn"] {{ background: {theme.warnbg}; border-left: 3px solid {theme.warn}; }}
QWidget#notice[tone="bad"] {{ background: {theme.badbg}; border-left: 3px solid {theme.bad}; }}
QWidget#notice[tone="ok"] {{ background: {theme.accentbg}; border-left: 3px solid {theme.accent}; }}
QWidget#notice QLabel {{ color: {theme.t1}; }}
QToolTip {{ color: {theme.t1}; background: {theme.card}; border: 1px solid {theme.line}; padding: 4px 6px; }}
QMenu {{ color: {theme.t1}; background: {theme.card}; border: 1px solid {theme.line}; padding: 4px; }}
QMenu::item {{ padding: 4px 16px; border-radius: 4px; }}
QMenu::item:selected {{ background: {theme.raised}; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {thumb}; border-radius: 2px; }}
QScrollBar::handle:vertical {{ min-height: 32px; margin: 0 2px 0 3px; }}
QScrollBar::handle:horizontal {{ min-width: 32px; margin: 3px 0 2px 0; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""
