"""The style sheet of the conversation, made from a theme; what is the same everywhere stays in `style`."""

from offhook_app.state.theme import Theme


def sheet(theme: Theme) -> str:
    return f"""
QWidget#conversation, QWidget#transcript {{ background: {theme.chrome}; }}
QScrollArea {{ background: {theme.chrome}; border: 1px solid {theme.chrome}; }}
QScrollArea:focus {{ border: 1px solid {theme.accent}; }}
QWidget#conversationHead {{ border-bottom: 1px solid {theme.line}; }}
QWidget#composer {{ border-top: 1px solid {theme.line}; }}
QTextEdit {{ background: transparent; color: {theme.t1}; border: none;
    selection-background-color: {theme.sel}; selection-color: {theme.t1}; }}
QFrame#field {{ background: {theme.editor}; border: 1px solid {theme.edge}; border-radius: 8px; }}
QFrame#field[active="true"] {{ border: 1px solid {theme.accent}; }}
QFrame#field QPlainTextEdit {{ background: transparent; }}
QFrame#chip {{ background: {theme.raised}; border-radius: 12px; }}
QFrame#chip[empty="true"] {{ background: transparent; }}
QFrame#chip QToolButton {{ color: {theme.t2}; border-radius: 12px; padding: 0 8px; }}
QToolButton#send {{ background: {theme.accent}; border-radius: 6px; padding: 0; }}
QToolButton#send:disabled {{ background: {theme.raised}; }}
QToolButton#send:focus {{ border: 2px solid {theme.t1}; }}
QFrame#codeCard {{ background: {theme.card}; border: 1px solid {theme.line}; border-radius: 8px; }}
QFrame#codeCard QPlainTextEdit {{ background: {theme.editor}; border-bottom-left-radius: 7px;
    border-bottom-right-radius: 7px; }}
QPushButton[kind="small"] {{ color: {theme.t2}; border: none; padding: 0 8px; min-height: 24px; }}
QPushButton[kind="small"]:hover {{ color: {theme.t1}; background: {theme.hover}; }}
QPushButton[kind="small"]:focus {{ border: 2px solid {theme.accent}; padding: 0 6px; min-height: 20px; }}
QPushButton[kind="small"]:disabled {{ color: {theme.t3}; }}
QPushButton[kind="example"] {{ text-align: left; padding: 0 12px; min-height: 34px; }}
QPushButton[kind="example"]:focus {{ padding: 0 11px; min-height: 32px; }}
QPushButton#pill {{ color: {theme.onacc}; background: {theme.accent}; border: none; border-radius: 13px;
    padding: 0 14px; min-height: 26px; }}
QPushButton#pill:focus {{ border: 2px solid {theme.t1}; padding: 0 12px; min-height: 22px; }}
QLabel[tone="accent"] {{ color: {theme.accent}; }}
QLabel#trouble {{ color: {theme.t1}; background: {theme.warnbg}; border-left: 3px solid {theme.warn};
    padding: 8px 13px; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QFrame#rule {{ background: {theme.line}; border: none; }}
"""
