"""Markdown prose written at the end of a text document: fonts, gaps, marks of lists. Not the widget that shows it.

Links are text with their address behind, tables are rows of cells. Code blocks are cards of their own, but for those
inside a quotation.
"""

import re
from collections import Counter

from markdown_it.token import Token
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextFormat

from offhook_app.panels import fonts
from offhook_app.panels.markdown import Block
from offhook_app.state.theme import Theme

CODE = int(QTextFormat.Property.UserProperty.value) + 1  # marks inline code, whose ground the view paints
THIN = "\u202f"  # room inside that ground; no line ends at it
_TEXT_PX, _CODE_PX = 14, 13
_LINE_PX, _HAN_LINE_PX = 21, 23
_GAP_PX, _ITEM_GAP_PX = 10, 4
_INDENT_PX = 20
_HAN = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]")
_COUNTED = {"heading", "blockquote", "list_item", "tr", "th", "strong", "em"}


def write(cursor: QTextCursor, block: Block, looks: "Looks") -> None:
    """At the cursor, which stands at the end of the document."""
    page = _Page(cursor, looks, continues=block.continues)
    for token in block.tokens:
        page.write(token)


class Looks:
    """The character formats of a theme."""

    def __init__(self, theme: Theme) -> None:
        self.plain = _format(fonts.ui(_TEXT_PX), theme.t1)
        self.quiet = _format(fonts.ui(_TEXT_PX), theme.t2)
        self.code = _format(fonts.code(_CODE_PX), theme.t1)
        self.code_edge = _format(fonts.ui(_TEXT_PX), theme.t1)  # where a thin space is thin
        for part in (self.code, self.code_edge):
            part.setProperty(CODE, True)
        self.ground = QColor(theme.raised)

    def of(self, depth: Counter[str]) -> QTextCharFormat:
        """Within so many headings, table heads, strong and emphasised parts."""
        strong = depth["strong"] or depth["th"] or depth["heading"]
        if not strong and not depth["em"]:
            return self.plain
        font = fonts.ui(_TEXT_PX, QFont.Weight.DemiBold if strong else QFont.Weight.Normal)
        font.setItalic(depth["em"] > 0)
        made = QTextCharFormat(self.plain)
        made.setFont(font)
        return made


class _Page:
    """Writes one block at the end of a document."""

    def __init__(self, cursor: QTextCursor, looks: Looks, *, continues: bool) -> None:
        self._cursor, self._looks = cursor, looks
        self._depth: Counter[str] = Counter()
        self._mark = ""  # of the item whose first paragraph is to come
        self._first_in_row = False
        self._addresses: list[str] = []
        self._close = continues  # the next paragraph stands close to the one before

    def write(self, token: Token) -> None:
        name = token.type.rpartition("_")[0]
        if name in _COUNTED:
            self._depth[name] += token.nesting
            self._first_in_row |= token.type == "tr_open"
            if token.type == "list_item_open":
                self._mark = f"{token.info}." if token.info else "•"
        elif token.type == "inline":
            self._inline(token)
        elif token.type == "fence":  # inside a quotation: no card of its own
            for line in token.content.rstrip("\n").split("\n"):
                self._paragraph(line)
                self._cursor.insertText(line, self._looks.code)
        elif token.type == "hr":
            self._paragraph("")
            self._cursor.insertText("———", self._looks.quiet)

    def _inline(self, token: Token) -> None:
        if self._depth["tr"] and not self._first_in_row:
            self._cursor.insertText("  ·  ", self._looks.quiet)
        else:
            self._paragraph(token.content)
        self._first_in_row = False
        for child in token.children or []:
            self._piece(child)

    def _piece(self, token: Token) -> None:
        name = token.type.rpartition("_")[0]
        if name in _COUNTED:
            self._depth[name] += token.nesting
        elif token.type == "code_inline":
            self._cursor.insertText(THIN, self._looks.code_edge)
            self._cursor.insertText(token.content, self._looks.code)
            self._cursor.insertText(THIN, self._looks.code_edge)
        elif token.type == "link_open":
            self._addresses.append(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            self._tell_address(self._addresses.pop())
        else:
            breaks = {"softbreak": " ", "hardbreak": "\u2028"}
            words = breaks.get(token.type, token.content.replace("\n", "\u2028"))
            self._cursor.insertText(words, self._looks.of(self._depth))

    def _tell_address(self, address: str) -> None:
        if address and not self._cursor.block().text().endswith(address):
            self._cursor.insertText(f" ({address})", self._looks.quiet)

    def _paragraph(self, text: str) -> None:
        form = QTextBlockFormat()
        line_px = _HAN_LINE_PX if _HAN.search(text) else _LINE_PX
        form.setLineHeight(line_px, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        form.setLeftMargin(_INDENT_PX * (self._depth["list_item"] + self._depth["blockquote"]))
        mark = f"{self._mark}\u2002" if self._mark else ""
        form.setTextIndent(-QFontMetricsF(self._looks.quiet.font()).horizontalAdvance(mark))
        if self._cursor.document().isEmpty():
            self._cursor.setBlockFormat(form)
        else:
            form.setTopMargin(_ITEM_GAP_PX if self._close else _GAP_PX)
            self._cursor.insertBlock(form, self._looks.plain)
        self._cursor.insertText(mark, self._looks.quiet)
        self._mark = ""
        self._close = bool(self._depth["list_item"] or self._depth["tr"])


def _format(font: QFont, colour: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setFont(font)
    made.setForeground(QColor(colour))
    return made
