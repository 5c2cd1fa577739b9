"""Interruptions from the keyboard that wait for a good moment."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

__all__ = ["Interruption"]


class Interruption:
    """While it is entered, the first Ctrl-C is only noted; a second one interrupts at once.

    Between two blocks a selection looks whether it was asked to stop, so that it never stops in the middle of one.
    One inside another is the same as that: what is noted between two of them, both know. Only the main thread
    receives interruptions; elsewhere, and where the process ignores them or leaves them to the system, this does
    nothing.
    """

    def __init__(self) -> None:
        self._noted = self._answered = False
        self._whole = self  # the outermost one, whose handler it is
        self._before: Callable[[int, FrameType | None], object] | None = None

    @property
    def asked(self) -> bool:
        """Whether there was an interruption that nobody has answered yet."""
        return self._whole._noted and not self._whole._answered

    @property
    def noted(self) -> bool:
        """Whether there was one at all."""
        return self._whole._noted

    def answer(self) -> bool:
        """Return whether it was asked for; whoever calls it ends soon, so that what follows need not stop at once."""
        asked = self.asked
        if asked:
            self._whole._answered = True
        return asked

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True

    def __enter__(self) -> "Interruption":
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            around = getattr(before, "__self__", None)
            if isinstance(around, Interruption):
                self._whole = around
            else:
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
