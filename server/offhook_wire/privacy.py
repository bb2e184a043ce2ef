"""Which files hold secrets by their name alone, so that no prompt, index or log may see them. Reads no file."""

import re
from fnmatch import fnmatchcase
from urllib.parse import unquote

_FOLDERS = frozenset({".ssh", ".aws", ".gnupg", ".kube"})
_NAMES = (
    ".env*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.crt",
    "*.cert",
    "id_rsa*",
    "id_ed25519*",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    "credentials*",
    "secrets.y*ml",
    "*.kdbx",
    ".dev.vars",
)
_TEMPLATES = (".env*.example", ".env*.sample", ".env*.template")  # written to be shared
_SEPARATORS = re.compile(r"[/\\]+")


def never_sent(path: str) -> bool:
    """True for a path (POSIX, Windows or a `file:` URI) whose text must stay out of everything we send or keep."""
    if path[:5].lower() == "file:":
        path = unquote(path[5:])
    # Windows ignores spaces and dots at the end of a name
    parts = [name for part in _SEPARATORS.split(path.lower()) if (name := part.rstrip(" ."))]
    if not parts:
        return False
    if not _FOLDERS.isdisjoint(parts):
        return True
    name = parts[-1]
    if any(fnmatchcase(name, template) for template in _TEMPLATES):
        return False
    return any(fnmatchcase(name, pattern) for pattern in _NAMES)
