"""`offhook doctor`: what is here, what is wrong, and the line that mends it. Mends nothing itself."""

import argparse
import asyncio
import dataclasses
import json
from pathlib import Path

from offhook_app import settings
from offhook_app.cli import examine
from offhook_app.settings import Settings
from offhook_app.state import health
from offhook_app.state.health import Finding, Plan
from offhook_wire.version import PRODUCT

MARKS = {"ok": "ok", "warn": "warn", "bad": "BAD", "unmeasured": "?"}
COLOURS = {"ok": 32, "warn": 33, "bad": 31, "unmeasured": 2}  # of a terminal
WIDTHS = (6, 10)  # of the mark and the topic


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="offhook doctor", description="What is here, what is wrong, what mends it.")
    parser.add_argument("--json", action="store_true", help="for programs: one object")
    parser.add_argument("--deep", action="store_true", help="starts the server, loads the models and asks each a word")
    given = parser.parse_args(arguments)
    try:
        findings = asyncio.run(_findings(settings.load(), deep=given.deep))
    except KeyboardInterrupt:
        return 130
    worst = health.worst(findings)
    if given.json:
        print(json.dumps({"worst": worst, "findings": [dataclasses.asdict(finding) for finding in findings]}))
    else:
        colour = settings.wants_colour()
        lines = [line for finding in findings for line in _lines(finding, colour=colour)]
        print("\n".join([*lines, "", health.summary(findings)]))
    return int(worst == "bad")


async def _findings(given: Settings, *, deep: bool) -> list[Finding]:
    """The lengthy questions at the same time; engines last, one after the other."""
    window, engine, plan, sound, server = await asyncio.gather(
        examine.window(),
        examine.trial("engine"),
        examine.plan(given),
        examine.sound(),
        asyncio.to_thread(examine.server, given.runtime),
    )
    findings = [
        *health.of_installed(examine.installed()),
        health.of_window(window),
        health.of_engine(engine),
        health.of_settings(str(settings.settings_file()), settings.settings_file().exists(), plan),
        *health.of_plan(plan),
        *health.of_server(server, PRODUCT),
        *_of_folders(given, plan),
        *health.of_memory(examine.memory_bytes(), plan),
        health.of_sound(sound),
    ]
    if deep and not plan.refused:
        roles = [seat.role for seat in plan.seats if seat.state not in ("absent", "partly", "missing")]
        findings += map(health.of_answer, await examine.answers(given, roles))
    return findings


def _of_folders(given: Settings, plan: Plan) -> list[Finding]:
    """Of the models' folder nothing is known where the settings are refused."""
    findings = [
        health.of_runtime_folder(examine.folder(given.runtime)),
        health.of_data_folder(examine.folder(given.data)),
    ]
    if plan.models_folder:
        findings.append(health.of_models_folder(examine.folder(Path(plan.models_folder))))
    filled = Path(plan.models_folder or given.data)
    return [*findings, health.of_disk(str(filled), examine.free_bytes(filled), plan)]


def _lines(finding: Finding, *, colour: bool) -> list[str]:
    mark, topic = WIDTHS
    marked = f"{MARKS[finding.level]:{mark}}"
    if colour:
        marked = f"\x1b[{COLOURS[finding.level]}m{marked}\x1b[0m"
    lines = [f"{marked}{finding.topic:{topic}}{finding.says}"]
    return [*lines, f"{'':{mark + topic}}→ {finding.mend}"] if finding.mend else lines
