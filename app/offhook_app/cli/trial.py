"""`python -m offhook_app.cli.trial window|engine|sound`: tries what may take its process with it. For `offhook doctor` only."""

import ctypes
import ctypes.util
import json
import sys
from importlib import import_module, metadata


def main() -> int:
    match sys.argv[1:]:
        case ["window"]:
            print(_window())
        case ["engine"]:
            import_module("xllamacpp")
            print(f"xllamacpp {metadata.version('xllamacpp')}")
        case ["sound"]:
            print(json.dumps(_sound()))
        case _:
            return 2
    return 0


def _window() -> str:
    """Qt ends the process where it finds no display or lacks a library of the system."""
    widgets = import_module("PySide6.QtWidgets")
    return f"Qt {metadata.version('PySide6-Essentials')}, {widgets.QApplication([]).platformName()}"


class _Device(ctypes.Structure):
    """The first fields of PortAudio's PaDeviceInfo (portaudio.h, version 19)."""

    _fields_ = [
        ("struct_version", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("host_api", ctypes.c_int),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
    ]


def _sound() -> list[int] | None:
    """How many devices record, and how many play; None without PortAudio."""
    name = ctypes.util.find_library("portaudio")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.Pa_GetDeviceInfo.restype = ctypes.POINTER(_Device)
    if library.Pa_Initialize() != 0:
        return None
    devices = [library.Pa_GetDeviceInfo(index).contents for index in range(library.Pa_GetDeviceCount())]
    return [sum(device.inputs > 0 for device in devices), sum(device.outputs > 0 for device in devices)]


if __name__ == "__main__":
    sys.exit(main())
