"""Every key of the app, once: what builds the actions, the hints and the help. Not what the keys do.

Layers: `any` holds everywhere, `editor` while the code has the focus, `ghost` only while a suggestion is shown; there
it hides what the same key means below. Sequences are Qt's portable spelling; on macOS `Ctrl` is the Command key.
"""

import re
from dataclasses import dataclass
from typing import Literal

Layer = Literal["any", "editor", "ghost"]


@dataclass(frozen=True, slots=True)
class Key:
    id: str
    layer: Layer
    sequence: str
    words: str
    also: tuple[str, ...] = ()  # the same on keyboards where the sign needs Shift
    hinted: bool = True  # stands in the row of hints beside a suggestion

    @property
    def caps(self) -> list[str]:
        """What stands on the key caps of a hint."""
        return [_CAPS.get(cap, cap) for cap in re.split(r"(?<=[^+])\+", self.sequence)]


_CAPS = {"Right": "→", "Return": "↵"}

KEYS = (
    Key("open", "any", "Ctrl+O", "open a file"),
    Key("save", "any", "Ctrl+S", "save"),
    Key("quit", "any", "Ctrl+Q", "quit"),
    Key("latency", "any", "Alt+2", "latency"),
    Key("conversation", "any", "Alt+3", "conversation"),
    Key("composer", "any", "Ctrl+L", "ask"),
    Key("stop_answer", "any", "Shift+Esc", "stop the answer"),
    Key("pane", "any", "F6", "next part of the window"),
    Key("pane_before", "any", "Shift+F6", "the part before"),
    Key("larger", "any", "Ctrl++", "larger code", also=("Ctrl+=",)),
    Key("smaller", "any", "Ctrl+-", "smaller code"),
    Key("suggest", "editor", "Alt+\\", "suggest now"),
    Key("more", "editor", "Alt+Shift+\\", "complete more, by the deep model", also=("Alt+|", "Alt+Shift+|")),
    Key("accept", "ghost", "Tab", "accept"),
    Key("accept_word", "ghost", "Ctrl+Right", "word"),
    Key("accept_line", "ghost", "Ctrl+Return", "line"),
    Key("dismiss", "ghost", "Esc", "dismiss"),
    Key("next", "ghost", "Alt+.", "next suggestion", hinted=False),
    Key("previous", "ghost", "Alt+,", "previous suggestion", hinted=False),
)

BY_ID = {key.id: key for key in KEYS}


def of_layer(layer: Layer) -> list[Key]:
    return [key for key in KEYS if key.layer == layer]
