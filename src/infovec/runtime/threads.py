"""Chunks of rows on several threads, each with single-threaded linear algebra."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from .deadline import current, work_until
from .room import limit, work_within

__all__ = ["for_each", "limited", "n_threads", "own_threads", "parts"]

Item = TypeVar("Item")
_reserved: ContextVar[int | None] = ContextVar("threads that linear algebra left to us", default=None)
_given: ContextVar[int | None] = ContextVar("threads that linear algebra was limited to here", default=None)


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _executor(process: int) -> ThreadPoolExecutor:
    """One pool of threads for each process: threads do not survive a fork."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="infovec")


def parts(size: int, most: int) -> list[slice]:
    """Return consecutive slices of at most ``most``, which together are ``size``."""
    return [slice(start, min(start + most, size)) for start in range(0, size, most)]


@contextmanager
def own_threads() -> Iterator[None]:
    """Keep linear algebra to one thread inside, so that all threads there are belong to ``for_each``.

    Threads of the linear algebra go on spinning for a while after every product, in the way of those that follow.
    """
    if _reserved.get() is not None:
        yield
        return
    token = _reserved.set(_allowed())
    try:
        with _limits.to(1):
            yield
    finally:
        _reserved.reset(token)


@contextmanager
def limited(n_threads: int) -> Iterator[None]:
    """Keep linear algebra to so many threads inside."""
    token = _given.set(n_threads)
    try:
        with _limits.to(n_threads):
            yield
    finally:
        _given.reset(token)


class _Limits:
    """The limit of linear algebra, of which a process has one: the least that any thread asks for now.

    Threads that set it come and go in any order; what it was before the first of them is there again after the last.
    """

    def __init__(self) -> None:
        self._lock, self._wanted, self.usual = Lock(), list[int](), 0
        self._before: Any = None

    @contextmanager
    def to(self, n_threads: int) -> Iterator[None]:
        entered = False
        try:
            with self._lock:
                if not self._wanted:
                    self.usual, self._before = _current(), _controller().limit(limits=None)
                entered = True  # from here on it must be taken back, even if an interruption comes first
                self._wanted.append(n_threads)
                self._set()
            yield
        finally:
            with self._lock:
                if entered and n_threads in self._wanted:
                    self._wanted.remove(n_threads)
                if self._wanted:
                    self._set()
                elif entered:
                    self._before.restore_original_limits()
                    self.usual = 0
                    _release()

    def _set(self) -> None:
        if _current() != min(self._wanted):
            _controller().limit(limits=min(self._wanted))
            _release()


_limits = _Limits()


def _release() -> None:
    """Let any thread set the limit next: threadpoolctl (3.8) ignores all but the one that did until it leaves."""
    with _controller().limit(limits=None):
        pass


def _current() -> int:
    return max((library["num_threads"] for library in _controller().info()), default=1)


def _allowed() -> int:
    """Threads for this one: what was asked for here, whatever others ask for, or what there was before them."""
    return _given.get() or _limits.usual or _current()


def n_threads() -> int:
    """Threads that ``for_each`` would use now."""
    return _reserved.get() or _allowed()


def for_each(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call the function on every item, on as many threads as linear algebra may use now.

    NumPy and BLAS release the interpreter lock, so elementwise work gains as much as matrix products do. The number
    of threads follows threadpoolctl, and so ``n_jobs`` and joblib. An interruption waits for calls under way; when the
    time of the work under way is over it raises Late between two of them.
    """
    deadline, memory = current(), limit()
    todo = list(items)
    threads = 1 if len(todo) == 1 else n_threads()
    if threads == 1:
        for item in todo:
            deadline.check()
            function(item)
        return
    waiting = iter(todo)
    lock = Lock()

    def work() -> None:
        with work_until(deadline), work_within(memory):
            while True:
                deadline.check()
                with lock:
                    item = next(waiting, None)
                if item is None:
                    return
                function(item)

    with own_threads():
        futures = [_executor(os.getpid()).submit(work) for _ in range(min(threads, len(todo)))]
        try:
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()
            wait(futures)
