"""Stories of two engines on a fake clock: loaded when needed, gone when idle, out of the way when memory is short."""

from collections.abc import Callable
from math import inf

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from offhook_server.core.engines import (
    LOADABLE,
    LOW_BATTERY,
    MOST_FAILURES,
    QUIET,
    RETRY_S,
    ROLES,
    Action,
    Engines,
    Load,
    Role,
    Rules,
    Surroundings,
    Unload,
)
from offhook_server.errors import BackendError

pytestmark = pytest.mark.pure

GB = 1_000_000_000
FAST = Rules("small", idle_s=900.0, needs_bytes=GB)
DEEP = Rules("large", idle_s=300.0, needs_bytes=2 * GB, floor_bytes=6 * GB)
PLENTY = Surroundings(16 * GB)


def both_here(around: Surroundings = PLENTY, *, deep: Rules = DEEP, quiet: bool = False) -> Engines:
    engines = Engines({"fast": FAST, "deep": deep}, quiet=quiet)
    for role in ROLES:
        engines.filed(role, "asleep", "", 0.0)
    engines.look(around, 0.0)
    return engines


def loaded(engines: Engines, role: Role, now: float = 0.0) -> Engines:
    assert engines.ask(role, now) == [Load(role)]
    engines.worker(role, "ready", "", now)
    engines.done(role, now, well=True)
    return engines


# -- loading and unloading --------------------------------------------------------------------------------------------


def test_nothing_is_loaded_until_it_is_needed() -> None:
    engines = both_here()
    assert engines.deadline == inf
    assert engines.tick(1e6) == []
    assert engines.ask("fast", 5.0) == [Load("fast")]
    assert engines.state("fast") == "starting"
    assert engines.ask("fast", 5.1) == []


def test_an_idle_engine_is_unloaded_and_loaded_again_at_the_next_need() -> None:
    engines = loaded(both_here(), "fast")
    assert engines.deadline == 900.0
    assert engines.tick(899.9) == []
    assert engines.tick(900.0) == [Unload("fast")]
    assert engines.state("fast") == "asleep"
    assert engines.ask("fast", 901.0) == [Load("fast")]


def test_the_time_it_is_idle_counts_from_the_end_of_the_last_answer() -> None:
    engines = loaded(both_here(), "deep")
    engines.ask("deep", 100.0)
    assert engines.deadline == inf
    assert engines.tick(1000.0) == []
    engines.done("deep", 1000.0, well=False)
    assert engines.deadline == 1300.0


def test_a_warm_up_keeps_a_loaded_engine() -> None:
    engines = loaded(both_here(), "deep")
    assert engines.warm("deep", 200.0) == []
    assert engines.deadline == 500.0


def test_the_deep_engine_is_warmed_after_the_fast_one() -> None:
    engines = both_here()
    assert engines.warm("fast", 1.0) == [Load("fast")]
    assert engines.warm("deep", 2.0) == []
    assert engines.worker("fast", "ready", "", 3.0) == [Load("deep")]


def test_a_question_does_not_wait_for_the_warm_up_of_the_other() -> None:
    engines = both_here()
    engines.warm("fast", 1.0)
    engines.warm("deep", 1.0)
    assert engines.ask("deep", 2.0) == [Load("deep")]
    assert engines.worker("fast", "ready", "", 3.0) == []


def test_a_worker_that_died_starts_again_by_itself() -> None:
    engines = loaded(both_here(), "fast")
    assert engines.worker("fast", "starting", "", 10.0) == []
    assert engines.ask("fast", 10.1) == []
    engines.worker("fast", "ready", "", 11.0)
    assert engines.state("fast") == "ready"


def test_what_an_unloaded_worker_says_is_not_heard() -> None:
    engines = both_here()
    engines.worker("fast", "ready", "", 1.0)
    assert engines.state("fast") == "asleep"


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_model_that_is_not_here_says_so_and_one_that_has_come_is_loaded() -> None:
    engines = Engines({"fast": FAST, "deep": DEEP})
    engines.filed("fast", "absent", "Not here; fetch it.", 0.0)
    assert not engines.serves("fast", 0.0)
    with pytest.raises(BackendError, match="fetch it"):
        engines.ask("fast", 0.0)
    engines.filed("fast", "downloading", "", 1.0)
    with pytest.raises(BackendError, match="small is on its way"):
        engines.ask("fast", 1.0)
    assert engines.warm("fast", 1.0) == []
    assert engines.filed("fast", "asleep", "", 2.0) == [Load("fast")]


def test_without_a_deep_model_the_fast_one_answers() -> None:
    engines = both_here()
    assert engines.deep_lane(0.0) == "deep"
    engines.filed("deep", "absent", "Not here.", 1.0)
    assert engines.deep_lane(1.0) == "fast"
    assert engines.notice == ""


def test_a_model_elsewhere_is_always_ready_and_never_unloaded() -> None:
    engines = Engines({"fast": FAST, "deep": Rules("far", elsewhere=True)})
    engines.look(Surroundings(GB // 2), 0.0)
    assert engines.deep_lane(0.0) == "deep"
    assert engines.ask("deep", 0.0) == []
    engines.done("deep", 1.0, well=True)
    engines.worker("deep", "ready", "It did not answer.", 2.0)
    assert (engines.detail("deep"), engines.deadline) == ("It did not answer.", inf)


# -- failures ---------------------------------------------------------------------------------------------------------


def failing(engines: Engines, now: float) -> None:
    engines.worker("deep", "failed", "It cannot be loaded.", now)


def test_a_failed_engine_is_tried_again_a_minute_later_but_not_for_ever() -> None:
    engines, now = both_here(), 0.0
    for _ in range(MOST_FAILURES):
        assert engines.ask("deep", now) == [Load("deep")]
        failing(engines, now + 1.0)
        engines.done("deep", now + 1.0, well=False)
        with pytest.raises(BackendError, match="cannot be loaded"):
            engines.ask("deep", now + 2.0)
        now += 1.0 + RETRY_S
    with pytest.raises(BackendError, match="cannot be loaded"):
        engines.ask("deep", now + 1e6)
    assert engines.deep_lane(now + 1e6) == "fast"


def test_a_whole_answer_forgives_and_so_does_the_person() -> None:
    engines = both_here()
    for now in (0.0, 100.0):
        engines.ask("deep", now)
        failing(engines, now)
        engines.done("deep", now, well=False)
    engines.ask("deep", 200.0)
    engines.worker("deep", "ready", "", 200.0)
    engines.done("deep", 200.0, well=True)
    for now in (300.0, 400.0, 500.0):
        failing(engines, now)
        engines.filed("deep", "asleep", "", now)
        assert engines.ask("deep", now) == [Load("deep")]


def test_an_engine_that_failed_is_not_warmed() -> None:
    engines = both_here()
    engines.ask("deep", 0.0)
    failing(engines, 1.0)
    assert engines.warm("deep", 1000.0) == []


# -- memory -----------------------------------------------------------------------------------------------------------


def test_under_six_gigabytes_only_the_fast_engine() -> None:
    engines = both_here(Surroundings(5.9 * GB))
    assert engines.deep_lane(0.0) == "fast"
    assert engines.notice == "Only 5.9 GB of memory are free and large asks for 6.0 GB: small answers in its place."
    assert engines.warm("deep", 0.0) == []
    with pytest.raises(BackendError, match=r"Only 5\.9 GB .* Close something and ask again"):
        engines.ask("deep", 0.0)
    assert engines.ask("fast", 0.0) == [Load("fast")]


def test_what_the_engine_holds_itself_counts_as_free() -> None:
    engines = loaded(both_here(), "deep")
    assert engines.look(Surroundings(4.5 * GB), 1.0) == []
    assert engines.deep_lane(1.0) == "deep"


def test_when_others_want_the_memory_the_deep_engine_goes_but_not_in_mid_sentence() -> None:
    engines = loaded(both_here(), "deep")
    engines.ask("deep", 1.0)
    assert engines.look(Surroundings(3 * GB), 2.0) == []
    assert engines.deep_lane(2.0) == "fast"
    assert engines.done("deep", 3.0, well=True) == [Unload("deep")]
    engines.look(PLENTY, 4.0)
    assert engines.notice == ""
    assert engines.ask("deep", 4.0) == [Load("deep")]


def test_where_there_is_no_room_at_all_the_copy_model_is_alone() -> None:
    engines = both_here(Surroundings(GB / 2))
    assert not engines.serves("fast", 0.0)
    assert (
        engines.notice
        == "Only 0.5 GB of memory are free and small asks for 1.0 GB: suggestions come from your own code only."
    )
    with pytest.raises(BackendError, match="Close something"):
        engines.ask("fast", 0.0)


# -- quiet and the battery --------------------------------------------------------------------------------------------


def hush(engines: Engines) -> None:
    engines.quiet(True)


def drain(engines: Engines) -> None:
    engines.look(Surroundings(16 * GB, charge=0.19), 1.0)


@pytest.mark.parametrize(("hold_back", "notice"), [(hush, QUIET), (drain, LOW_BATTERY)])
def test_what_nobody_asked_for_is_held_back_and_what_somebody_did_is_not(
    hold_back: Callable[[Engines], None], notice: str
) -> None:
    engines = both_here()
    assert engines.automatic
    hold_back(engines)
    assert not engines.automatic
    assert engines.notice == notice
    assert engines.warm("fast", 2.0) == []
    assert engines.ask("fast", 3.0) == [Load("fast")]


def test_quiet_can_be_a_setting_and_be_ended() -> None:
    engines = both_here(quiet=True)
    assert not engines.automatic
    engines.quiet(False)
    assert engines.automatic
    assert engines.warm("fast", 1.0) == [Load("fast")]


def test_a_battery_that_lasts_holds_nothing_back() -> None:
    engines = both_here(Surroundings(16 * GB, charge=0.20))
    assert engines.automatic


def test_two_reasons_are_two_sentences() -> None:
    engines = both_here(Surroundings(2 * GB), quiet=True)
    assert engines.notice.endswith(f"small answers in its place. {QUIET}")


# -- whatever happens -------------------------------------------------------------------------------------------------


class Playing(RuleBasedStateMachine):
    """Plays the drivers' part, too: `loaded` is what has been loaded and not unloaded."""

    def __init__(self) -> None:
        super().__init__()
        self.engines = Engines({"fast": FAST, "deep": DEEP})
        self.now = 0.0
        self.loaded: set[Role] = set()
        self.asking = dict.fromkeys(ROLES, 0)
        self.free_bytes: float = inf

    def perform(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Load(role=role):
                    assert role not in self.loaded
                    assert self.free_bytes >= (6 * GB if role == "deep" else GB)
                    self.loaded.add(role)
                case Unload(role=role):
                    assert not self.asking[role]
                    self.loaded.remove(role)

    @rule(seconds=st.sampled_from([0.0, 1.0, 59.0, 61.0, 300.0, 900.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.perform(self.engines.tick(self.now))

    @rule(gigabytes=st.sampled_from([0.5, 1.5, 4.5, 6.0, 16.0]), charge=st.sampled_from([None, 0.1, 0.9]))
    def look(self, gigabytes: float, charge: float | None) -> None:
        self.free_bytes = gigabytes * GB
        self.perform(self.engines.look(Surroundings(self.free_bytes, charge), self.now))

    @rule(role=st.sampled_from(ROLES))
    def file_comes(self, role: Role) -> None:
        if role not in self.loaded:
            self.perform(self.engines.filed(role, "downloading", "", self.now))
            self.perform(self.engines.filed(role, "asleep", "", self.now))

    @rule(role=st.sampled_from(ROLES))
    def warm(self, role: Role) -> None:
        self.perform(self.engines.warm(role, self.now))

    @rule(role=st.sampled_from(ROLES))
    def ask(self, role: Role) -> None:
        try:
            actions = self.engines.ask(role, self.now)
        except BackendError:
            return
        self.asking[role] += 1
        self.perform(actions)
        assert role in self.loaded

    @precondition(lambda self: any(self.asking.values()))
    @rule(well=st.booleans())
    def answer(self, well: bool) -> None:
        role = next(role for role in ROLES if self.asking[role])
        self.asking[role] -= 1
        self.perform(self.engines.done(role, self.now, well=well))

    @rule(role=st.sampled_from(ROLES), says=st.sampled_from(["starting", "ready", "failed"]))
    def worker_says(self, role: Role, says: str) -> None:
        if role in self.loaded and says == "failed":
            self.loaded.remove(role)
            self.perform(self.engines.worker(role, "failed", "It failed.", self.now))
        elif role in self.loaded:
            self.perform(self.engines.worker(role, "ready" if says == "ready" else "starting", "", self.now))

    @rule(on=st.booleans())
    def quiet(self, on: bool) -> None:
        self.engines.quiet(on)

    @invariant()
    def it_knows_what_is_loaded(self) -> None:
        for role in ROLES:
            assert (self.engines.state(role) in ("starting", "ready")) == (role in self.loaded)

    @invariant()
    def nothing_is_overdue(self) -> None:
        assert self.engines.deadline > self.now or self.engines.deadline == inf

    @invariant()
    def the_deep_lane_is_answered_by_one_that_can(self) -> None:
        if self.engines.deep_lane(self.now) == "deep":
            assert self.engines.state("deep") in (*LOADABLE, "failed")


TestPlaying = Playing.TestCase
