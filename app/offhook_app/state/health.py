"""What was found out about an installation, judged: fine, doubtful or broken, why, and the line that mends it. Asks nothing.

"unmeasured" is what could not be found out here: neither fine nor broken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from shlex import quote
from typing import Literal, assert_never

Level = Literal["ok", "warn", "bad", "unmeasured"]
Role = Literal["fast", "deep"]

PYTHONS = ((3, 11), (3, 13))  # the first and the last that will do
LEAST_DISK_BYTES = 200_000_000  # for drafts, conversations and what the system itself needs
GB = 1e9
MB = 1e6
LIBRARIES = "libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libdbus-1-3"


@dataclass(frozen=True, slots=True)
class Finding:
    """`says`: one sentence. `mend`: a line to run or write; empty where nothing is to be mended, or the sentence tells how."""

    topic: str
    level: Level
    says: str
    mend: str = ""


def worst(findings: Sequence[Finding]) -> Level:
    levels: tuple[Level, ...] = ("bad", "warn", "ok")
    found = {finding.level for finding in findings}
    return next((level for level in levels if level in found), "unmeasured")


def summary(findings: Sequence[Finding]) -> str:
    levels = [finding.level for finding in findings]
    wrong, doubtful = levels.count("bad"), levels.count("warn")
    parts = [f"{count} {words}" for count, words in ((wrong, "wrong"), (doubtful, "to look at")) if count]
    return f"{', '.join(parts)}." if parts else "All is well."


# -- what is installed ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Installed:
    """`versions`: of what is worth naming. `missing`: what Offhook requires and has not, as pip would be asked for it."""

    python: tuple[int, int, int]
    system: str
    versions: Mapping[str, str]
    missing: Sequence[str]


def of_installed(installed: Installed) -> list[Finding]:
    python = ".".join(map(str, installed.python))
    named = [f"{name} {version}" for name, version in installed.versions.items()]
    first, last = PYTHONS
    findings = [Finding("install", "ok", f"{', '.join([*named, f'Python {python}'])} on {installed.system}.")]
    if not first <= installed.python[:2] <= last:
        wanted = f"{first[0]}.{first[1]} to {last[0]}.{last[1]}"
        findings.append(Finding("install", "bad", f"Python {python} will not do; it has to be {wanted}.", "make setup"))
    if installed.missing:
        quoted = " ".join(f"'{name}'" for name in installed.missing)
        mend = f"python -m pip install {quoted}"
        findings.append(Finding("install", "bad", f"{len(installed.missing)} libraries are missing.", mend))
    return findings


@dataclass(frozen=True, slots=True)
class Trial:
    """A child process that tried something. `code` None: it did not end in time."""

    code: int | None
    said: str = ""
    errors: str = ""

    @property
    def why(self) -> str:
        """A traceback tells most in its last line, Qt in its first."""
        if self.code is None:
            return "it did not end in time"
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        if not lines:
            return f"it ended with code {self.code}"
        return lines[-1 if lines[0].startswith("Traceback") else 0].rstrip(".")


def of_window(trial: Trial | None) -> Finding:
    """None: there is no display to try it on."""
    if trial is None:
        return Finding("window", "warn", "No display here; `offhook complete`, `chat` and `serve` work in a terminal.")
    if trial.code == 0:
        return Finding("window", "ok", f"A window can be opened ({trial.said}).")
    if trial.code is None or "connect to display" in trial.errors or "wl_display" in trial.errors:
        mend = "echo $DISPLAY $WAYLAND_DISPLAY  # names a display that does not answer: set it to one that does"
    else:
        mend = f"sudo apt-get install -y {LIBRARIES}"
    return Finding("window", "bad", f"No window can be opened: {trial.why}.", mend)


def of_engine(trial: Trial) -> Finding:
    if trial.code == 0:
        return Finding("engine", "ok", f"The engine's library loads ({trial.said}).")
    mend = "python -m pip install --force-reinstall --no-deps xllamacpp"
    return Finding("engine", "bad", f"The engine's library does not load: {trial.why}.", mend)


# -- models -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seat:
    """One role, as `python -m offhook_server plan` tells it."""

    role: Role
    source: Literal["list", "file", "place", "null"]
    name: str
    state: Literal["here", "unverified", "partly", "absent", "missing", "elsewhere"]
    size_bytes: int = 0
    needs_bytes: int = 0
    fetch_bytes: int = 0
    unset_key: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """`refused`: why there is none, in a sentence that tells how to mend it."""

    models_folder: str = ""
    seats: Sequence[Seat] = field(default_factory=list)
    refused: str = ""


def of_settings(path: str, there: bool, plan: Plan) -> Finding:
    """`path`: of the settings file, which need not be `there`."""
    if plan.refused:
        in_file = there and plan.refused.startswith(PurePath(path).name)
        return Finding("settings", "bad", plan.refused, f"${{EDITOR:-vi}} {quote(path)}" if in_file else "")
    if there:
        return Finding("settings", "ok", f"{path} is understood.")
    return Finding("settings", "ok", f"All is at its default; {path} would change it.")


def of_plan(plan: Plan) -> list[Finding]:
    return [_of_seat(seat) for seat in plan.seats]


def _of_seat(seat: Seat) -> Finding:
    who = f"{seat.role}: {seat.name}"
    fetch = f"offhook models fetch {seat.role}"
    size = f"{seat.size_bytes / MB:,.0f} MB"
    match seat.state:
        case "here":
            return Finding("models", "ok", f"{who} is here{' and verified' if seat.source == 'list' else ''}.")
        case "unverified":
            mend = f"offhook models verify {seat.role}"
            return Finding("models", "warn", f"{who} is here, but was not verified.", mend)
        case "partly":
            return Finding("models", "warn", f"{who} is here in part only ({size} in all).", fetch)
        case "absent":
            return Finding("models", "warn", f"{who} is not here ({size}).", fetch)
        case "missing":
            mend = f"offhook models list  # shows what is here; name one as `{seat.role}` under [models] in config.toml"
            return Finding("models", "bad", f"{who} is not where the settings say.", mend)
        case "elsewhere" if seat.unset_key:
            says = f"{who} wants a key, and {seat.unset_key} is not set."
            return Finding("models", "warn", says, f"export {seat.unset_key}=…  # before the server starts")
        case "elsewhere":
            return Finding("models", "unmeasured", f"{who} is another server, which was not asked; --deep asks it.")
        case _:
            assert_never(seat.state)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking a model one word through the server. `fault` empty: it answered; `own`: itself, not another in its place."""

    role: Role
    took_s: float = 0.0
    own: bool = True
    fault: str = ""


def of_answer(answer: Answer) -> Finding:
    if answer.fault:
        mend = f"offhook models verify {answer.role}"
        return Finding("models", "bad", f"{answer.role} does not answer: {answer.fault.rstrip('.')}.", mend)
    if not answer.own:
        says = f"{answer.role} was not loaded; another model answered in its place after {answer.took_s:.1f} s."
        return Finding("models", "warn", says, "offhook doctor  # its lines about models and memory say why")
    return Finding("models", "ok", f"{answer.role} was loaded and answered after {answer.took_s:.1f} s.")


# -- the server ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """What server.json names, and who is there.

    none: there is no such file     unreadable: it is not ours       gone: nobody listens there
    mute: it does not answer        stranger: not an Offhook server  locked: it does not take our key
    `pid`: 0 where the process of that number is no server of ours, so that no other is ever ended.
    """

    kind: Literal["none", "unreadable", "gone", "mute", "stranger", "locked", "answers"]
    file: str = ""
    base_url: str = ""
    pid: int = 0
    version: str = ""
    failed: Sequence[str] = ()


def of_server(seen: ServerSeen, version: str) -> list[Finding]:
    """`version`: ours."""
    forget = f"rm {quote(seen.file)}"
    end = f"kill {seen.pid}  # the next command starts another" if seen.pid else forget
    where = f"The server at {seen.base_url}"
    match seen.kind:
        case "none":
            return [_server("ok", "No server runs; the window and the commands start one.")]
        case "unreadable":
            return [_server("warn", "server.json is not what a server wrote; the next one writes it anew.", forget)]
        case "gone":
            return [_server("warn", f"{where} is gone; server.json was left, and the next one writes it anew.", forget)]
        case "mute":
            return [_server("bad", f"{where} does not answer.", end)]
        case "stranger":
            return [_server("bad", f"Another program answers at {seen.base_url}, which server.json names.", forget)]
        case "locked":
            return [_server("bad", f"{where} does not take the key of this user.", end)]
        case "answers" if seen.version != version:
            return [_server("warn", f"{where} is of version {seen.version}, this is {version}.", end)]
        case "answers":
            failed = [
                _server("bad", f"The server's {role} engine failed.", f"offhook models verify {role}")
                for role in seen.failed
            ]
            return [_server("ok", f"{where} answers (process {seen.pid})."), *failed]
        case _:
            assert_never(seen.kind)


def _server(level: Level, says: str, mend: str = "") -> Finding:
    return Finding("server", level, says, mend)


# -- folders, memory, disk, sound ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FolderSeen:
    """`writable`: it is, or can be made. `shared`: other users of this machine may look in."""

    path: str
    writable: bool
    shared: bool = False


def of_runtime_folder(folder: FolderSeen) -> Finding:
    if not folder.writable:
        mend = "export OFFHOOK_RUNTIME_DIR=…  # a folder of yours"
        return Finding("folders", "bad", f"No server can start: {folder.path} can't be written.", mend)
    if folder.shared:
        says = f"Others may look into {folder.path}, where the server's key is."
        return Finding("folders", "warn", says, f"chmod 700 {quote(folder.path)}")
    return Finding("folders", "ok", f"runtime: {folder.path}")


def of_data_folder(folder: FolderSeen) -> Finding:
    if folder.writable:
        return Finding("folders", "ok", f"data: {folder.path}")
    mend = "export OFFHOOK_DATA_DIR=…  # a folder of yours"
    return Finding("folders", "bad", f"Drafts and conversations can't be kept: {folder.path} can't be written.", mend)


def of_models_folder(folder: FolderSeen) -> Finding:
    if folder.writable:
        return Finding("folders", "ok", f"models: {folder.path}")
    mend = "export OFFHOOK_MODELS_DIR=…  # a folder of yours"
    return Finding("folders", "warn", f"No model can be fetched: {folder.path} can't be written.", mend)


def of_disk(folder: str, free_bytes: int, plan: Plan) -> Finding:
    free = f"{free_bytes / GB:.1f} GB of disk are free at {folder}"
    if free_bytes < LEAST_DISK_BYTES:
        return Finding(
            "disk", "bad", f"Only {free}.", f"du -xh {quote(folder)} | sort -h | tail  # what takes the space"
        )
    wanted = sum(seat.fetch_bytes for seat in plan.seats)
    if free_bytes < wanted:
        says = f"{free}; to fetch what is missing takes {wanted / GB:.1f} GB."
        return Finding("disk", "warn", says, "export OFFHOOK_MODELS_DIR=…  # a folder on a larger disk")
    return Finding("disk", "ok", f"{free}.")


def of_memory(available_bytes: int | None, plan: Plan) -> list[Finding]:
    """None: could not be found out."""
    if available_bytes is None:
        return [Finding("memory", "unmeasured", "Free memory was not measured: psutil is missing.")]
    available = f"{available_bytes / GB:.1f} GB of memory are free"
    short = [_of_short_memory(available, seat) for seat in plan.seats if seat.needs_bytes > available_bytes]
    return short or [Finding("memory", "ok", f"{available}.")]


def _of_short_memory(available: str, seat: Seat) -> Finding:
    mend = "close other programs"
    if seat.role == "deep":
        mend = "deep_floor_gb = 3  # or lower, under [engines] in config.toml; or close other programs"
    says = f"{available}; the {seat.role} model is loaded from {seat.needs_bytes / GB:.1f} GB on."
    return Finding("memory", "warn", says, mend)


@dataclass(frozen=True, slots=True)
class SoundSeen:
    """`by`: who was asked."""

    by: str
    microphones: int
    speakers: int


def of_sound(seen: SoundSeen | None) -> Finding:
    """None: nobody could be asked."""
    if seen is None:
        says = "Not measured: neither PortAudio nor pactl nor ALSA's list is here (nothing needs sound yet)."
        return Finding("sound", "unmeasured", says)
    lacking = [name for name, count in (("microphone", seen.microphones), ("loudspeaker", seen.speakers)) if not count]
    if lacking:
        says = f"No {' and no '.join(lacking)}, says {seen.by} (nothing needs sound yet)."
        return Finding("sound", "warn", says, "pactl info  # whether a sound server runs")
    return Finding("sound", "ok", f"Microphones: {seen.microphones}, loudspeakers: {seen.speakers}, says {seen.by}.")
