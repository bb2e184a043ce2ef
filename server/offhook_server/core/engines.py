"""Which engine is loaded when, and who answers the deep lane. Loads nothing and reads no gauge itself.

    absent ─ fetch ─▶ downloading ─▶ asleep ── asked, or warmed where there is room ──▶ starting ─▶ ready
       ▲                  │            ▲                                                   │  ▲       │
       └─ stopped, failed ┘            └── idle, or memory short, and nobody waits ────────┼──┼───────┤
                                                                                           │  └ died ─┘
                                        failed ◀── cannot be loaded, or dies too often ────┘
                                          └── asked again after RETRY_S, MOST_FAILURES times; fetched again ─▶ starting

A good guest: the deep engine leaves `floor_bytes` of memory to others, and the fast one answers in its place; a low
battery or the person's wish for quiet stops what nobody asked for (warm-ups and automatic decodes), never what they did.
A model of another place is an engine that is always ready and never unloaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from offhook_server.errors import BackendError

Role = Literal["fast", "deep"]
FileState = Literal["absent", "downloading", "asleep"]
WorkerState = Literal["starting", "ready", "failed"]
State = FileState | WorkerState
LOADABLE = ("asleep", "starting", "ready")
ROLES: tuple[Role, ...] = ("fast", "deep")

LOW_CHARGE = 0.20
RETRY_S = 60.0
MOST_FAILURES = 3
GB = 1e9

QUIET = "Quiet: suggestions come from your own code only, unless you ask for one."
LOW_BATTERY = "The battery is low: suggestions come from your own code only, unless you ask for one."


@dataclass(frozen=True, slots=True)
class Rules:
    """`needs_bytes`: what it takes when loaded. `floor_bytes`: with less memory free than this it is not loaded."""

    name: str
    idle_s: float = inf
    needs_bytes: int = 0
    floor_bytes: int = 0
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`charge`: of the battery, 0 to 1; None when there is none or it is being charged."""

    free_bytes: float = inf
    charge: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    role: Role


@dataclass(frozen=True, slots=True)
class Unload:
    role: Role


Action = Load | Unload


@dataclass(slots=True)
class _Engine:
    rules: Rules
    state: State = "absent"
    detail: str = ""
    asking: int = 0
    used_at: float = -inf
    warm: bool = False  # to be loaded as soon as may be
    failures: int = 0
    failed_at: float = -inf

    @property
    def idle_at(self) -> float:
        return inf if self.state != "ready" or self.asking else self.used_at + self.rules.idle_s

    @property
    def room_bytes(self) -> int:
        return max(self.rules.needs_bytes, self.rules.floor_bytes)

    def fits(self, free_bytes: float) -> bool:
        """Whether it may be loaded, or stay so: what it holds itself counts as free."""
        held = self.rules.needs_bytes if self.state in ("starting", "ready") else 0
        return free_bytes + held >= self.room_bytes

    def usable(self, now: float) -> bool:
        may_retry = self.failures < MOST_FAILURES and now >= self.failed_at + RETRY_S
        return self.state in LOADABLE or (self.state == "failed" and may_retry)

    def short(self, free_bytes: float) -> bool:
        """Memory is all that it lacks."""
        return self.state in LOADABLE and not self.fits(free_bytes)


class Engines:
    def __init__(self, rules: Mapping[Role, Rules], *, quiet: bool = False) -> None:
        self._engines = {role: _Engine(rules[role], "ready" if rules[role].elsewhere else "absent") for role in ROLES}
        self._quiet = quiet
        self._around = Surroundings()

    # -- what can be read --------------------------------------------------------------------------------------------

    @property
    def deadline(self) -> float:
        """When `tick` is due; infinite when nothing is."""
        return min(engine.idle_at for engine in self._engines.values())

    @property
    def automatic(self) -> bool:
        """Whether a decode that nobody asked for may run."""
        return not self._quiet and not self._low_battery

    @property
    def notice(self) -> str:
        """What is held back and why, for the status line; empty when nothing is."""
        fast, deep = self._engines["fast"], self._engines["deep"]
        sentences = []
        if fast.short(self._around.free_bytes):
            sentences.append(f"{self._shortage(fast)}: suggestions come from your own code only.")
        elif deep.short(self._around.free_bytes):
            sentences.append(f"{self._shortage(deep)}: {fast.rules.name} answers in its place.")
        if self._quiet:
            sentences.append(QUIET)
        elif self._low_battery:
            sentences.append(LOW_BATTERY)
        return " ".join(sentences)

    def state(self, role: Role) -> State:
        return self._engines[role].state

    def detail(self, role: Role) -> str:
        return self._engines[role].detail

    def serves(self, role: Role, now: float) -> bool:
        """Whether a request for it makes sense now."""
        engine = self._engines[role]
        return engine.usable(now) and self._fits(engine)

    def deep_lane(self, now: float) -> Role:
        """Who answers it: the fast engine where the deep one is not here, does not fit or does not work."""
        return "deep" if self.serves("deep", now) else "fast"

    # -- what happens ------------------------------------------------------------------------------------------------

    def look(self, around: Surroundings, now: float) -> list[Action]:
        """The gauges were read."""
        self._around = around
        return self.tick(now)

    def quiet(self, on: bool) -> None:
        self._quiet = on

    def filed(self, role: Role, state: FileState, detail: str, now: float) -> list[Action]:
        """What is known of its file. One that has come anew is a new chance, and one that was waited for is loaded."""
        engine = self._engines[role]
        engine.warm = engine.state == "downloading" and state == "asleep"
        engine.state, engine.detail, engine.failures = state, detail, 0
        return self.tick(now)

    def worker(self, role: Role, state: WorkerState, detail: str, now: float) -> list[Action]:
        """What its process says of itself; one that was unloaded meanwhile is not heard."""
        engine = self._engines[role]
        if engine.state not in ("starting", "ready"):
            return []
        if state == "failed":
            engine.failures += 1
            engine.failed_at = now
        if state == "ready" and engine.state != "ready":
            engine.used_at = now
        engine.state, engine.detail = state, detail
        return self.tick(now)

    def warm(self, role: Role, now: float) -> list[Action]:
        """It will probably be asked soon."""
        engine = self._engines[role]
        engine.used_at = now
        engine.warm = engine.state == "asleep" and self.automatic
        return self.tick(now)

    def ask(self, role: Role, now: float) -> list[Action]:
        """A request for it; `done` follows. Raises BackendError when it can't be served."""
        engine = self._engines[role]
        if not engine.usable(now):
            raise BackendError(engine.detail or f"{engine.rules.name} is on its way; ask again when it is here.")
        loads = engine.state in ("asleep", "failed")
        if loads and not self._fits(engine):
            raise BackendError(f"{self._shortage(engine)}. Close something and ask again.")
        engine.asking += 1
        engine.used_at = now
        return [self._load(role)] if loads else []

    def done(self, role: Role, now: float, *, well: bool) -> list[Action]:
        """A request has ended; `well`: with a whole answer."""
        engine = self._engines[role]
        engine.asking -= 1
        engine.used_at = now
        if well:
            engine.failures = 0
        return self.tick(now)

    def tick(self, now: float) -> list[Action]:
        return [action for role in ROLES for action in self._due(role, now)]

    # -- how it is decided -------------------------------------------------------------------------------------------

    @property
    def _low_battery(self) -> bool:
        return self._around.charge is not None and self._around.charge < LOW_CHARGE

    def _fits(self, engine: _Engine) -> bool:
        return engine.fits(self._around.free_bytes)

    def _shortage(self, engine: _Engine) -> str:
        free_gb, room_gb = self._around.free_bytes / GB, engine.room_bytes / GB
        return f"Only {free_gb:.1f} GB of memory are free and {engine.rules.name} asks for {room_gb:.1f} GB"

    def _due(self, role: Role, now: float) -> list[Action]:
        engine = self._engines[role]
        crowded = engine.state == "ready" and not engine.asking and not self._fits(engine)
        if crowded or now >= engine.idle_at:
            engine.state = "asleep"
            return [Unload(role)]
        fast_first = role == "deep" and self._engines["fast"].state == "starting"
        if not engine.warm or fast_first:
            return []
        engine.warm = False
        return [self._load(role)] if engine.state == "asleep" and self._fits(engine) else []

    def _load(self, role: Role) -> Load:
        engine = self._engines[role]
        engine.state, engine.detail, engine.warm = "starting", "", False
        return Load(role)
