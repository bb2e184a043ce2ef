"""The fonts that ship with the app, so that widths are the same everywhere. The system's fixed font is never used."""

from pathlib import Path

import fontpkg_inter
import fontpkg_jetbrains_mono
from PySide6.QtGui import QFont, QFontDatabase

CODE_PX = 14
LEAST_CODE_PX, MOST_CODE_PX = 8, 40
_UI = ["Inter", "Noto Sans CJK SC", "sans-serif"]
_MONO = ["JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono CJK SC", "monospace"]


def install() -> None:
    """Once, after the application object is made."""
    for package in (fontpkg_inter, fontpkg_jetbrains_mono):
        for file in sorted((Path(package.ROOT) / "files").glob("*.ttf")):
            QFontDatabase.addApplicationFont(str(file))


def ui(px: int = 13, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    font = QFont()
    font.setFamilies(_UI)
    font.setPixelSize(px)
    font.setWeight(weight)
    font.setVariableAxis(QFont.Tag("wght"), weight.value)  # setWeight alone leaves a variable font as it is
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def code(px: int = CODE_PX) -> QFont:
    font = QFont()
    font.setFamilies(_MONO)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPixelSize(px)
    font.setFeature(QFont.Tag("calt"), 0)  # ligatures would hide where the caret can stand
    return font
