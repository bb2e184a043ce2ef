"""What Enter and Tab put into code: plain rules over one line. Not a formatter."""

import textwrap

UNIT = 4


def after_enter(before: str) -> str:
    """The white space a new line starts with; `before` is what stands left of the caret."""
    ink = before.lstrip(" \t")
    lead = before[: len(before) - len(ink)]
    if not ink.rstrip().endswith((":", "(", "[", "{")):
        return lead
    return lead + ("\t" if lead.endswith("\t") else " " * UNIT)


def for_tab(before: str) -> str:
    """What Tab puts at the caret: a tab in a line that is indented with tabs, else spaces up to the next stop."""
    if before.startswith("\t"):
        return "\t"
    return " " * (UNIT - len(before) % UNIT)


def at_caret(code: str, before: str) -> str:
    """`code` as it is put at the caret: its first line there, the others indented as the caret's line is.

    `before` is what stands left of the caret.
    """
    lead = before[: len(before) - len(before.lstrip(" \t"))]
    first, *others = textwrap.dedent(code).strip("\n").split("\n")
    return "\n".join([first, *(lead + line if line.strip() else "" for line in others)])
