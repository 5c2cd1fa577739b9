"""Interruptions from the keyboard that wait for a good moment."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

__all__ = ["Interruption"]


class Interruption:
    """While it is entered, the first Ctrl-C is only noted; a second one interrupts at once.

    Between two blocks a selection looks whether it was asked to stop, so that it never stops in the middle of one.
    What one of them noted inside another, that one knows too. Only the main thread receives interruptions; elsewhere,
    and where the process ignores them or leaves them to the system, this does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self._around: Interruption | None = None
        self._before: Callable[[int, FrameType | None], object] | None = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked or (self._around and self._around.asked):
            raise KeyboardInterrupt
        self.asked = True

    def __enter__(self) -> "Interruption":
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self._before, around = before, getattr(before, "__self__", None)
            self._around = around if isinstance(around, Interruption) else None
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._around:
                self._around.asked |= self.asked
