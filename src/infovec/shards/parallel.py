"""Chunks of rows on several threads, each with single-threaded linear algebra."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["for_each"]

Item = TypeVar("Item")


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _executor(process: int) -> ThreadPoolExecutor:
    """One pool of threads for each process: threads do not survive a fork."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="infovec")


def for_each(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call the function on every item, on as many threads as linear algebra may use now.

    NumPy and BLAS release the interpreter lock, so elementwise work gains as much as matrix products do. The number
    of threads follows threadpoolctl, and so ``n_jobs`` and joblib. An interruption waits for calls under way.
    """
    todo = list(items)
    threads = max((library["num_threads"] for library in _controller().info()), default=1)
    if threads == 1 or len(todo) == 1:
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

    with _controller().limit(limits=1):
        futures = [_executor(os.getpid()).submit(work) for _ in range(min(threads, len(todo)))]
        try:
            for future in futures:
                future.result()
        finally:
            for future in futures:
                future.cancel()
            wait(futures)
