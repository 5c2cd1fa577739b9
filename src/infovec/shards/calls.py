"""Calls to houses on the workers of a cluster, of which some may be lost on the way."""

import time
from collections.abc import Sequence

import numpy as np

from .._types import Message
from ..errors import ClusterError
from .tenancy import Call, Tenancy

__all__ = ["Calls"]

_POLL = 1.0  # seconds after which it is asked whether a worker that does not answer is still there
_WAIT = 60.0  # seconds to wait for a worker when none is left
_SLOW = 60.0  # seconds after which a worker is given up,
_SLOWEST = 20.0  # if that is so many times as long as the slowest of the others took


class Calls:
    """Makes calls to houses, and builds a house again elsewhere when its worker is lost.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Message) -> None:
        self.client, self.houses = client, list[Tenancy]()

    def each(self, calls: Sequence[Call]) -> list[Message]:
        """Make calls to houses at the same time; a house that is lost is built again elsewhere, and called again."""
        pending, found = self._begun(calls), [None] * len(calls)
        start, took = time.perf_counter(), dict[int, float]()
        for k, (house, _) in enumerate(calls):
            while True:
                try:
                    found[k] = self._answer(k, calls, pending, start, took)
                    break
                except _Lost as lost:
                    self._rebuild(house, lost)
                    again = [j for j in range(k, len(calls)) if calls[j][0] is house]
                    for j, future in zip(again, self._begun([calls[j] for j in again]), strict=True):
                        pending[j] = future
                    start, took = time.perf_counter(), {}
        return found

    def _begun(self, calls: Sequence[Call]) -> list[Message]:
        begun = []
        for house, call in calls:
            try:
                begun.append(call(house.actor))
            except (OSError, ValueError, RuntimeError) as error:
                begun.append(_Lost(str(error)))
        return begun

    def _answer(
        self, k: int, calls: Sequence[Call], pending: Sequence[Message], start: float, took: dict[int, float]
    ) -> Message:
        """Wait for one of the answers; ``took`` has the seconds of those that are there."""
        future, worker = pending[k], calls[k][0].worker
        if isinstance(future, _Lost):
            raise future
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                waited = time.perf_counter() - start
                if worker not in self._workers():
                    raise _Lost(f"worker {worker} is gone") from None
                for j, other in enumerate(pending):
                    if not isinstance(other, _Lost) and other.done():
                        took.setdefault(j, waited)
                others = [took.get(j, np.inf) for j, (house, _) in enumerate(calls) if house is not calls[k][0]]
                if others and waited > max(_SLOW, _SLOWEST * max(others)):
                    self.client.run_on_scheduler(_removed, worker=worker)  # what it has is made again elsewhere
                    raise _Lost(f"worker {worker} did not answer for {waited:.0f} seconds") from None
            except OSError as error:
                raise _Lost(str(error)) from error
            except (ValueError, RuntimeError) as error:
                if "Actor" in str(error) and ("lost" in str(error) or "worker" in str(error).lower()):
                    raise _Lost(str(error)) from error
                raise

    def _rebuild(self, house: Tenancy, lost: "_Lost") -> None:
        """Build a house elsewhere: from its chunks, made again if they must be, and what its shards were told."""
        end = time.perf_counter() + _WAIT
        while True:
            left = [worker for worker in self._workers() if worker != house.worker]
            if left:
                rows = dict.fromkeys(left, 0)
                for other in self.houses:
                    if other is not house and other.worker in rows:
                        rows[other.worker] += len(other.pieces)
                house.worker = min(left, key=lambda worker: rows[worker])
                try:
                    house.build()
                    return
                except (OSError, ValueError, RuntimeError) as error:
                    lost = _Lost(str(error))
            if time.perf_counter() > end:
                raise ClusterError(
                    f"a worker was lost ({lost}), and there is none to take its place. Start workers and fit again; "
                    "with checkpoint='file.ivm' it goes on from where it was"
                ) from lost
            time.sleep(0.2)

    def _workers(self) -> list[str]:
        try:
            return list(self.client.nthreads())
        except (OSError, RuntimeError, TimeoutError, AttributeError) as error:  # the last of a client that is closed
            raise ClusterError(
                f"the scheduler does not answer ({error}). Start a cluster and fit again; with checkpoint='file.ivm' "
                "it goes on from where it was"
            ) from error

    def wait_for(self, future: Message) -> Message:
        """Return the result of a future; as long as the scheduler is there."""
        while True:
            try:
                return future.result(timeout=_POLL)
            except TimeoutError:
                self._workers()


class _Lost(Exception):
    """A worker does not answer any more."""


async def _removed(dask_scheduler: Message, worker: str) -> None:
    """Let a scheduler forget a worker."""
    await dask_scheduler.remove_worker(worker, stimulus_id="infovec: too slow")
