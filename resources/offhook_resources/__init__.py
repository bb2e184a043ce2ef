"""Files that ship with Offhook: the list of models, prompts, icons. `path` is the only way in."""

from pathlib import Path


def path(name: str) -> Path:
    """Where the shipped file `name` is on this disk. Raises FileNotFoundError."""
    found = Path(__file__).parent / name
    if not found.exists():
        raise FileNotFoundError(name)
    return found
