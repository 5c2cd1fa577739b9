"""Chunks of rows on several threads, each with single-threaded linear algebra."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["for_each", "own_threads", "parts"]

Item = TypeVar("Item")
_reserved: ContextVar[int | None] = ContextVar("threads that linear algebra left to us", default=None)


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
        with _controller().limit(limits=1):
            yield
    finally:
        _reserved.reset(token)


def _allowed() -> int:
    return max((library["num_threads"] for library in _controller().info()), default=1)


def for_each(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call the function on every item, on as many threads as linear algebra may use now.

    NumPy and BLAS release the interpreter lock, so elementwise work gains as much as matrix products do. The number
    of threads follows threadpoolctl, and so ``n_jobs`` and joblib. An interruption waits for calls under way.
    """
    todo = list(items)
    threads = 1 if len(todo) == 1 else _reserved.get() or _allowed()
    if threads == 1:
        for item in todo:
            function(item)
        return
    waiting = iter(todo)
    lock = Lock()

    def work() -> None:
        while True:
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
