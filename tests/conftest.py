"""What holds for every test: one kind each, no skip where CI runs, time spent by kind printed at the end.

hypothesis plays the same games each time and nobody holds a watch to them;
pytest --hypothesis-profile=deep plays many more, and others each time.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

BUDGETS_S = {"pure": 60, "loopback": 120, "window": 180, "sound": 240, "models": 180}
SPENT_S = pytest.StashKey[dict[str, float]]()

settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("deep", parent=settings.get_profile("steady"), derandomize=False, max_examples=2000)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SPENT_S] = dict.fromkeys(BUDGETS_S, 0.0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test of no kind has no budget and may not run."""
    for item in items:
        if _kind(item) is None:
            raise pytest.UsageError(f"{item.nodeid} has no marker of {', '.join(BUDGETS_S)}")


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    kind = _kind(item)
    assert kind is not None
    item.config.stash[SPENT_S][kind] += call.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    spent_s = config.stash[SPENT_S]
    words = [f"{kind} {spent_s[kind]:.0f} of {budget} s" for kind, budget in BUDGETS_S.items() if spent_s[kind]]
    terminalreporter.write_line("time by kind: " + ", ".join(words))
    terminalreporter.write_line(f"random order: --randomly-seed={config.getoption('randomly_seed')}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    assert reporter is not None
    unrun = [kind for kind in ("skipped", "xfailed") if reporter.stats.get(kind)]
    if unrun and os.environ.get("CI") and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"CI runs every test, but some were {' and '.join(unrun)}")


def _kind(item: pytest.Item) -> str | None:
    return next((kind for kind in BUDGETS_S if item.get_closest_marker(kind)), None)
