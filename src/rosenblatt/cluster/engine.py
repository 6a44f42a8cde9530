"""The workers of a Dask cluster: tasks go out to them, and what they find comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

AT_A_TIME = 0.5  # seconds after which to look whether there still is a scheduler
MESSAGE = 1 << 22  # bytes to send at a time
GONE = 30.0  # seconds without a scheduler after which nobody waits for it any longer


class ClusterError(RuntimeError):
    """Something went wrong on the cluster, in one line: what, and what to do."""


def is_of_dask(X: Any) -> bool:
    """Whether it is one of Dask's collections; Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] == "dask"


def one_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


class Engine:
    """A client of a Dask cluster, as far as solvers need one.

    Results come in the order of the tasks, whatever the order in which workers are done with
    them; a task whose worker is lost is done again by another one.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    @classmethod
    def at_hand(cls) -> Engine:
        """The cluster that this process, or this task, is a client of."""
        from distributed import get_client

        try:
            return cls(get_client())
        except ValueError:
            msg = (
                "X is a collection of Dask's, and there is no cluster to work on: make a "
                "dask.distributed.Client() first, or give X.compute()"
            )
            raise ClusterError(msg) from None

    def threads(self) -> dict[str, int]:
        """The address of every worker, and how many tasks it does at a time."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            msg = f"the cluster at {self._address} has no workers: start some, or wait for them"
            raise ClusterError(msg)
        return {address: int(worker["nthreads"]) for address, worker in workers.items()}

    def homes(self, futures: Sequence[Any]) -> list[str]:
        """The worker that each result is on, the first where there are several; "" for none."""
        found = self.client.who_has(futures)
        return [next(iter(sorted(found.get(future.key, ()))), "") for future in futures]

    def submit(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Any:
        """Have a function called, by a certain worker if that one is still there."""
        where = {"workers": [worker], "allow_other_workers": True} if worker else {}
        try:
            return self.client.submit(function, *args, pure=False, **where)
        except (OSError, RuntimeError) as error:
            raise self._gone() from error

    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Have a function called for each row of some columns, many of them told at once."""
        sent = sum(getattr(one, "nbytes", 0) for column in columns for one in column)
        at_a_time = max(1, len(columns[0]) // (1 + sent // MESSAGE))
        try:
            return list(self.client.map(function, *columns, pure=False, batch_size=at_a_time))
        except (OSError, RuntimeError) as error:
            raise self._gone() from error

    def gather(
        self,
        futures: Sequence[Any],
        look_up: Callable[[], None] | None = None,
        *,
        bring: bool = True,
    ) -> list[Any]:
        """What the tasks found, or, unless it is to be brought here, where it is.

        `look_up` is called now and then, and may raise to give up.
        """
        from distributed import TimeoutError as NotYet
        from distributed import wait

        waited = 0.0
        while True:
            try:
                wait(futures, timeout=AT_A_TIME)
                return list(self.client.gather(list(futures))) if bring else self._where(futures)
            except NotYet:
                waited = 0.0 if self.client.status == "running" else waited + AT_A_TIME
                if waited > GONE:
                    raise self._gone() from None
                if look_up is not None:
                    look_up()
            except Exception as error:
                raise self._told(error, futures) from error

    def call(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Any:
        """What a function returns, called by a worker."""
        return self.gather([self.submit(function, *args, worker=worker)])[0]

    def _where(self, futures: Sequence[Any]) -> list[str]:
        """Where the results of tasks are that are done; if one of these failed, its error."""
        failed = [future for future in futures if future.status == "error"]
        self.client.gather(failed[:1])
        return self.homes(futures)

    def present(self, given: Any) -> list[Any] | None:
        """The blocks of a persisted collection, in their order; None where it is not persisted."""
        from dask.core import flatten
        from distributed import futures_of

        known = {future.key: future for future in futures_of(given)}
        keys = list(flatten(given.__dask_keys__()))
        if not known or any(key not in known for key in keys):
            return None
        found = [known[key] for key in keys]
        return found if all(future.client is self.client for future in found) else None

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else "an unknown address"

    def _gone(self) -> ClusterError:
        msg = f"the scheduler at {self._address} is gone: start the cluster again and fit again"
        return ClusterError(msg)

    def _told(self, error: Exception, futures: Sequence[Any]) -> Exception:
        """The error of a task, or what became of the cluster."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        if isinstance(error, KilledWorker):
            lost = f"{error.allowed_failures + 1} workers died in a row over the same part"
            remedy = "give them more memory, or smaller blocks"
            return ClusterError(f"{lost} of the data: {remedy}")
        if isinstance(error, CancelledError | CommClosedError | OSError):
            if self.client.status != "running" or not self._answers():
                return self._gone()
            lost = "a part of the data was lost with its worker, and nothing says how to make it"
            remedy = "load the data by tasks (from files, say), not by scatter, and fit again"
            return ClusterError(f"{lost} again: {remedy}")
        return error

    def _answers(self) -> bool:
        """Whether the scheduler answers."""
        try:
            self.client.scheduler_info(n_workers=1)
            self.client.sync(self.client.scheduler.identity, callback_timeout=5)
        except Exception:
            return False
        return True
