"""What the server and the index process say to each other. Not the line: these frames never leave the machine."""

from msgspec import Struct

from offhook_server.core.copying import Guess


class Open(Struct, frozen=True, tag=True):
    """Index this folder instead of the last one; None is no folder. Documents stay."""

    root: str | None


class Document(Struct, frozen=True, tag=True):
    """The text in an editor. `name` is the path relative to the folder, with slashes: it stands for that file."""

    name: str
    text: str


class Close(Struct, frozen=True, tag=True):
    """The editor is closed: what is on the disk counts again."""

    name: str


class Ask(Struct, frozen=True, tag=True):
    """`before` and `after_line` are of the document as last sent; `line` is the caret's, from zero."""

    id: int
    name: str
    line: int
    before: str
    after_line: str = ""
    more_lines: int = 0
    prompt_from: int | None = None


ToIndex = Open | Document | Close | Ask


class Answer(Struct, frozen=True, tag=True):
    id: int
    guess: Guess | None
    took_us: int


class Status(Struct, frozen=True, tag=True):
    """`bytes` is the memory the index takes, about; `ready`: everything known of is indexed."""

    files: int = 0
    bytes: int = 0
    ready: bool = False


FromIndex = Answer | Status
