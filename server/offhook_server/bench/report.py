"""What a bench found, with the machine it was found on: one JSON object, or a table for people. Measures nothing."""

import json
import os
import platform
from pathlib import Path
from typing import Any

FEWEST = 20  # samples a figure needs before it may be printed


def shown(value: float, n: int) -> float | None:
    """`value` to four places, or None where too few samples stand behind it."""
    return round(value, 4) if n >= FEWEST else None


class Report:
    """Figures go in by `figure`; what explains them goes into `detail`."""

    def __init__(self, name: str, quick: bool) -> None:
        self.name = name
        self.quick = quick
        self.figures: dict[str, float | None] = {}
        self.n: dict[str, int] = {}
        self.detail: dict[str, Any] = {}
        self._load = {"start": _load_average()}

    def figure(self, key: str, value: float, n: int) -> None:
        """`n` is how many samples (or pairs) `value` comes from; with fewer than 20 the figure is None."""
        self.figures[key] = shown(value, n)
        self.n[key] = n

    def finish(self) -> None:
        """The last measurement was taken."""
        self._load["end"] = _load_average()

    def to_json(self) -> str:
        return json.dumps(self._content())

    def table(self) -> str:
        machine = _machine()
        width = max(map(len, self.figures), default=0)
        rows = [
            f"{key:{width}}  {'-' if value is None else f'{value:,.3f}':>12}  n={self.n[key]}"
            for key, value in self.figures.items()
        ]
        where = f"{machine['cpu']}, {machine['cores']} cores, {machine['ram_gb']} GB, {machine['os']}, Python {machine['python']}"
        lists = [found for found in self.detail.values() if isinstance(found, list) and _has_rows(found)]
        title = f"{self.name}{' (quick)' if self.quick else ''}"
        return "\n".join([title, *rows, *(line for found in lists for line in _columns(found)), where])

    def write(self) -> Path | None:
        """Keeps a full run in the checkout's tests/bench-results. None when quick, or when this is no checkout."""
        tests = Path(__file__).parents[3] / "tests"
        if self.quick or not tests.is_dir():
            return None
        found = tests / "bench-results" / f"{self.name}.json"
        found.parent.mkdir(exist_ok=True)
        found.write_text(json.dumps(self._content(), indent=1) + "\n", encoding="utf-8")
        return found

    def _content(self) -> dict[str, Any]:
        about = {"quick": self.quick, "machine": _machine(), "load": self._load}
        return {**self.figures, "n": self.n, **about, "detail": self.detail}


def _has_rows(found: list[Any]) -> bool:
    return bool(found) and isinstance(found[0], dict)


def _columns(found: list[dict[str, Any]]) -> list[str]:
    """A list of like objects, one row each under their keys."""
    cells = [list(found[0]), *(["-" if cell is None else str(cell) for cell in row.values()] for row in found)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["", *("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)]


def _load_average() -> list[float] | None:
    """Over 1, 5 and 15 minutes; None where the system keeps none."""
    return [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None


def _machine() -> dict[str, str | int | float]:
    """What a reader needs to compare; never the machine's name."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "ram_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _cpu() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
