"""Saying how far a fit is: a bar on a terminal, lines elsewhere."""

import sys
import time

from ..runtime import Progress

__all__ = ["ProgressBar"]


class ProgressBar:
    """Called after every block; writes at most about once a second, and at the end."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.next = time.perf_counter() + (0.2 if self.terminal else 1.0)

    def __call__(self, progress: Progress) -> None:
        done = progress.included == progress.wanted and progress.log_evidence is None
        if not done and time.perf_counter() < self.next:
            return
        self.next = time.perf_counter() + (0.2 if self.terminal else 1.0)
        text = self._text(progress)
        print(
            f"\r\033[K{text}" if self.terminal else text,
            end="" if self.terminal and not done else "\n",
            file=sys.stderr,
        )

    def _text(self, progress: Progress) -> str:
        if progress.learning:
            return (
                f"infovec: learning, log evidence {progress.log_evidence:.1f}, {progress.seconds:.1f} s, {progress.way}"
            )
        if progress.log_evidence is not None:
            return (
                f"infovec: {progress.included} active rows, log evidence of all rows {progress.log_evidence:.1f}, "
                f"largest change {progress.score:.2g}, {progress.seconds:.1f} s"
            )
        share = progress.included / progress.wanted
        left = progress.seconds * (1.0 / share**2 - 1.0)  # the work grows with the square of the active set
        bar = f"[{'#' * int(24 * share):24s}] " if self.terminal else ""
        held = "" if progress.held_back is None else f", held back {progress.held_back:.4f} nats"
        return (
            f"infovec: {bar}{progress.included} of {progress.wanted} rows included, score {progress.score:.3g}{held}, "
            f"{progress.seconds:.1f} s, about {left:.1f} s left"
        )
