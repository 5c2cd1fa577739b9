"""What a fit will take on several machines, said before it starts."""

from typing import NamedTuple

from .budget import shown_bytes
from .machine import Machine
from .plan import Plan

__all__ = ["ClusterPlan", "Network", "cluster_plan"]

_SWEEPS, _MESSAGES = 10, 6  # usual sweeps over all rows, and exchanges that go with each
_GIVEN, _TARGETS = (
    25,
    8,
)  # bytes of a row that go to its worker, beside the inputs that are there, and that come from it
_TOLD, _MOST = 40, 1_000_000  # bytes that come back for each row by which predictions are calibrated, and such rows


class Network(NamedTuple):
    """What lies between a client and its workers."""

    latency: float = 1e-3  # seconds for a message and its answer, of next to no size
    bandwidth: float = 1e8  # bytes in a second


_USUAL = Network()


class ClusterPlan(NamedTuple):
    """Seconds, bytes over the network, and memory of each worker."""

    seconds: float
    learning: float  # of these, on the client
    computing: float  # of these, on the workers
    network: float  # of these, until messages have arrived
    exchanges: int
    sent: int  # bytes between the client and all workers
    block_bytes: int  # of these, for a block to and from one worker: the largest
    sweep_bytes: int  # the same for a sweep
    worker_memory: int
    workers: int
    n_rows: int

    def __str__(self) -> str:
        return (
            f"{self.n_rows} rows on {self.workers} workers in about {self.seconds:.3g} s "
            f"({self.learning:.3g} s to learn, {self.computing:.3g} s of the workers, {self.network:.3g} s of the "
            f"network); {self.exchanges} exchanges, {shown_bytes(self.sent)} over the network, "
            f"{shown_bytes(self.worker_memory)} in each worker"
        )


def cluster_plan(
    machine: Machine, plan: Plan, workers: int, speed: float = 1.0, network: Network = _USUAL, n: int | None = None
) -> ClusterPlan:
    """Predict a fit on several workers from what it takes in one process.

    Parameters
    ----------
    machine : Machine
    plan : Plan
        Of one process with all rows.
    workers : int
    speed : float
        Of a worker, in units of this process.
    network : Network
    n : int, optional
        Rows, if there will be more of them than here.
    """
    work, p, rows = machine.work, machine.data.p, machine.data.n
    n, d, C = n or rows, work.wanted, machine.n_functions
    looks = C * work.schedule.looks(d)
    block = 8 * (work.schedule.pool_size * (d + p + 6) + work.schedule.block_size * (d + p + work.schedule.block_size))
    sweep = 8 * 3 * (d * d + d)
    exchanges = int(2 * looks + C * _SWEEPS * _MESSAGES)
    once = n * C * (_GIVEN + _TARGETS) + _TOLD * min(n, _MOST)
    sent = once + workers * (looks * block + C * _SWEEPS * sweep)
    computing = (plan.seconds - plan.learning) * (n / rows) / (workers * speed)
    waiting = exchanges * network.latency + sent / network.bandwidth
    memory = plan.memory * n / (rows * workers) + n / workers * p * 8
    return ClusterPlan(
        plan.learning + computing + waiting, plan.learning, computing, waiting, exchanges, int(sent), int(block),
        int(sweep), int(memory), workers, n,
    )  # fmt: skip
