"""What this machine has left for us, and what our processes take of it, read by psutil. Decides nothing."""

from collections.abc import Mapping

import psutil

from offhook_server.core.engines import Surroundings
from offhook_wire.messages import ProcessUsage, Usage

MB = 1e6


def surroundings() -> Surroundings:
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    runs_down = battery is not None and battery.power_plugged is False
    return Surroundings(psutil.virtual_memory().available, battery.percent / 100 if battery and runs_down else None)


def usage(pids: Mapping[str, int]) -> Usage:
    """Of the workers by name, and of those that ended: the system knows what ended children took (Linux)."""
    own = psutil.Process().cpu_times()
    models = [usage for name, pid in pids.items() if (usage := _of(name, pid))]
    ended_s = own.children_user + own.children_system
    return Usage(
        cpu_s=round(ended_s + sum(one.cpu_s for one in models), 3),
        rss_mb=round(sum(one.rss_mb for one in models), 1),
        models=models,
    )


def _of(name: str, pid: int) -> ProcessUsage | None:
    """None for one that has just ended."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            times = process.cpu_times()
            return ProcessUsage(name, round(times.user + times.system, 3), round(process.memory_info().rss / MB, 1))
    except psutil.NoSuchProcess:
        return None
