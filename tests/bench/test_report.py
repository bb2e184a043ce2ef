"""A report keeps its promises: flat keys, a sample count for each, and no figure from too few samples."""

import json
import platform

import pytest

from offhook_server.bench.report import Report

pytestmark = pytest.mark.pure


def test_the_object_holds_flat_figures_and_what_they_stand_on() -> None:
    report = Report("line", quick=False)
    report.figure("fresh.overhead_ms_p50", 161.23456, 40)
    report.detail["grid"] = [1, 2]
    report.finish()
    found = json.loads(report.to_json())
    assert found["fresh.overhead_ms_p50"] == 161.2346
    assert found["n"] == {"fresh.overhead_ms_p50": 40}
    assert found["quick"] is False
    assert found["detail"] == {"grid": [1, 2]}
    assert set(found["machine"]) == {"cpu", "cores", "ram_gb", "os", "python"}
    assert set(found["load"]) == {"start", "end"}


def test_too_few_samples_are_null_not_a_figure() -> None:
    report = Report("line", quick=True)
    report.figure("saved", 0.8, 19)
    report.figure("kept", 0.5, 20)
    found = json.loads(report.to_json())
    assert found["saved"] is None
    assert found["kept"] == 0.5
    assert "0.8" not in report.table()


def test_the_name_of_the_machine_stays_here() -> None:
    machine = json.loads(Report("line", quick=True).to_json())["machine"]
    assert platform.node() not in machine.values()


def test_a_quick_run_is_not_kept() -> None:
    assert Report("line", quick=True).write() is None
