"""The window: `offhook [PATH[:LINE[:COL]]]`, or `python -m offhook_app`. Starts Qt, runs the wiring, nothing else."""

import faulthandler
import signal
import sys

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from offhook_app import settings
from offhook_app.cli.place import parse
from offhook_app.wiring import App

SIGNALS_SEEN_EVERY_MS = 200  # Python's handlers run only when Python runs


def main(arguments: list[str]) -> int:
    faulthandler.enable()
    try:
        place = parse(arguments[0]) if arguments else None
    except ValueError as e:
        sys.stderr.write(f"offhook: {e}\n")
        return 2
    qt = QApplication(sys.argv[:1])
    qt.setApplicationName("Offhook")
    qt.setDesktopFileName("offhook")
    qt.setStyle("Fusion")
    folder = place.path if place and place.path.is_dir() else None
    app = App(settings.load(), folder)
    app.start()
    if place and folder is None:
        app.window.open_path(place.path, place.point)
    _end_on_signals(app)
    try:
        return qt.exec()
    finally:
        app.stop()


def _end_on_signals(app: App) -> None:
    """Ctrl C and SIGTERM close the window as a person would: drafts are kept."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: app.window.close())
    timer = QTimer(app.window)
    timer.timeout.connect(lambda: None)
    timer.start(SIGNALS_SEEN_EVERY_MS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
