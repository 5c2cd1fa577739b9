"""Interruptions from the keyboard that wait for a good moment."""

import signal
import threading
from types import FrameType

__all__ = ["Interruption"]


class Interruption:
    """While it is entered, the first Ctrl-C is only noted; a second one interrupts at once.

    Between two blocks a selection looks whether it was asked to stop, so that it never stops in the middle of one.
    Only the main thread receives interruptions; elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self._main = threading.current_thread() is threading.main_thread()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __enter__(self) -> "Interruption":
        if self._main:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self._main:
            signal.signal(signal.SIGINT, self._before)
