"""Builds the app from its parts: one line, one window. Decides nothing."""

from pathlib import Path

from offhook_app.panels.window import MainWindow
from offhook_app.settings import Settings
from offhook_app.transport.line import Line
from offhook_app.transport.server_process import ServerProcess


class App:
    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        """`folder`: what the copy model may read before a file is open; each file brings its own."""
        self.line = Line(ServerProcess(settings), [folder.resolve().as_uri()] if folder else [])
        self.window = MainWindow(
            self.line, drafts_folder=settings.data / "drafts", history_file=settings.data / "conversations.sqlite"
        )

    def start(self) -> None:
        self.line.start()
        self.window.show()

    def stop(self) -> None:
        """After the window has closed: what it said last is still sent."""
        self.line.stop()
