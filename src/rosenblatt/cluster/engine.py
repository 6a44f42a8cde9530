"""The workers of a Dask cluster: tasks go out to them, and what they find comes back."""

from __future__ import annotations

import asyncio
import time
import uuid
from concurrent.futures import CancelledError
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import groupby, islice
from operator import itemgetter
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary, ref

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
    from concurrent.futures import Future

AT_A_TIME = 0.1  # seconds after which to look whether somebody wants to stop
LOOK = 2.0  # seconds after which to look whether there still are a scheduler and workers
MESSAGE = 1 << 22  # bytes to send at a time
AHEAD = 4  # results on their way here while one is looked at
GONE = 30.0  # seconds without a scheduler after which nobody waits for it any longer
ANSWER = 5.0  # seconds that it has for an answer, or workers to come back, when something is wrong
DESERTED = 120.0  # seconds without a single worker after which nobody waits for one any longer
LONGEST = 400  # letters of what somebody else's error says
LARGE = "distributed.admin.large-graph-warning-threshold"
SENDING = RLock()


class ClusterError(RuntimeError):
    """Something went wrong on the cluster, in one line: what, and what to do."""


class Unwanted(Exception):
    """A task has ended early because its result was given up."""


class Worker(NamedTuple):
    """What a worker has: the tasks that it does at a time, and bytes of memory, 0 if unlimited."""

    threads: int
    memory: int


class Raised(NamedTuple):
    """What a function has raised on a worker, to be raised here."""

    error: Exception


def is_of_dask(X: Any) -> bool:
    """Whether it is one of Dask's collections; Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] == "dask"


def one_line(error: BaseException) -> str:
    """What an error says, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


_at_work: ContextVar[list[Engine] | None] = ContextVar("at_work", default=None)


@contextmanager
def released() -> Iterator[None]:
    """What is begun on a cluster within is given up at the end, however that comes.

    The last reference to a future may be one that an error holds, or that Python finds late.
    """
    engines: list[Engine] = []
    token = _at_work.set(engines)
    try:
        yield
    finally:
        _at_work.reset(token)
        for engine in engines:
            engine.release()


class Engine:
    """A client of a Dask cluster, as far as solvers need one.

    Results come in the order of the tasks, whatever the order in which workers are done with
    them; a task whose worker is lost is done again by another one.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._begun: WeakValueDictionary[int, Any] = WeakValueDictionary()  # futures by their ids
        self._blocks: list[tuple[ref[Any], str]] = []  # those of blocks, and the names of these
        self._last: list[Any] = []  # those gathered last
        if (engines := _at_work.get()) is not None:
            engines.append(self)

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

    def workers(self) -> dict[str, Worker]:
        """Every worker by its address; where all have died, they may just be coming back."""
        began = time.monotonic()
        while not (workers := self._asked("identity", n_workers=-1)["workers"]):
            if time.monotonic() - began < ANSWER:
                time.sleep(AT_A_TIME)
                continue
            msg = f"the cluster at {self._address} has no workers: start some, or wait for them"
            raise ClusterError(msg)
        return {
            address: Worker(int(worker["nthreads"]), int(worker["memory_limit"] or 0))
            for address, worker in workers.items()
        }

    def homes(self, futures: Sequence[Any]) -> list[str]:
        """The worker that each result is on, the first where there are several; "" for none."""
        found = self._asked("who_has", keys=[future.key for future in futures])
        return [next(iter(sorted(found.get(future.key, ()))), "") for future in futures]

    def neighbours(self, count: int) -> list[str]:
        """The workers that so many parts are best read by: those in a row by the same one.

        An online epoch then goes through many of them before it goes on to another worker. Each
        worker has as many as it has threads.
        """
        workers = self.workers()
        threads = [address for address, worker in workers.items() for _ in range(worker.threads)]
        return [threads[k * len(threads) // count] for k in range(count)]

    def begin(
        self, delayed: Sequence[Any], name: str, homes: Sequence[str | None] = ()
    ) -> list[Any]:
        """Have blocks computed, or found where they are; `name` is what messages call all.

        If there are `homes`, by these workers, as far as they are still there.
        """
        futures: list[Any] = []
        both = zip(homes or [None] * len(delayed), delayed, strict=True)
        for home, some in groupby(both, key=itemgetter(0)):
            where = {"workers": [home], "allow_other_workers": True} if home else {}
            with self._sending():
                blocks = [block for _, block in some]
                futures += self.client.compute(blocks, traverse=False, **where)
        self._begun |= {id(future): future for future in futures}
        self._name(futures, name)
        return futures

    def submit(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Any:
        """Have a function called, by a certain worker if that one is still there."""
        where = {"workers": [worker], "allow_other_workers": True} if worker else {}
        key = f"rosenblatt.{_name_of(function)}-{uuid.uuid4().hex}"
        with self._sending():
            future = self.client.submit(function, *args, key=key, pure=False, **where)
        self._begun[id(future)] = future
        return future

    def ask(
        self, function: Callable[..., Any], *columns: Sequence[Any], homes: Sequence[str] = ()
    ) -> list[Any]:
        """`map` for results that are only gathered: what the function raises is raised here.

        Any other error of such a task is one of the cluster, or of the data.
        """
        return self.map(Guarded(function), *columns, homes=homes)

    def map(
        self, function: Callable[..., Any], *columns: Sequence[Any], homes: Sequence[str] = ()
    ) -> list[Any]:
        """Have a function called for each row of some columns, many of them told at once.

        If there are `homes`, by these workers, as far as they are still there.
        """
        import dask

        sent = sum(n_bytes(one) for column in columns for one in column)
        at_a_time = max(1, len(columns[0]) // (1 + sent // MESSAGE))
        name = f"rosenblatt.{_name_of(function)}-{uuid.uuid4().hex}"
        keys = [f"{name}-{k}" for k in range(len(columns[0]))]
        how = {"key": keys, "pure": False, "batch_size": at_a_time}
        of_key = dict(zip(keys, homes, strict=True)).get if homes else None
        where = {"workers": of_key, "allow_other_workers": True} if homes else {}
        with self._sending(), dask.annotate(**where):
            futures = list(self.client.map(function, *columns, **how))
        self._begun |= {id(future): future for future in futures}
        return futures

    def gather(
        self,
        futures: Sequence[Any],
        look_up: Callable[[], None] | None = None,
        *,
        bring: bool = True,
    ) -> list[Any]:
        """What the tasks found, or, unless it is to be brought here, where it is.

        `look_up` is called now and then, and may raise to give up. What was begun here is then
        given up; blocks of others, a persisted collection's or an opened source's, are left alone.
        """
        # Those before are given up only now: a client is slow to send a task soon after that.
        self._last = futures = list(futures)
        # First for the tasks alone: waiting for them can be given up without leaving traces.
        try:
            self._waited_for(_done(futures), look_up, futures)
            if not bring:
                failed = [future for future in futures if future.status != "finished"]
                self._waited_for(self.client.gather(failed[:1], asynchronous=True), look_up)
                return self.homes(futures)
            found = self._waited_for(self.client.gather(futures, asynchronous=True), look_up)
        except BaseException:
            give_up([future for future in futures if id(future) in self._begun])
            raise
        for one in found:
            if isinstance(one, Raised):
                raise one.error
        return found  # type: ignore[no-any-return]

    def in_turn(
        self, begin: Callable[[Any], Any], asked: Iterable[Any], ahead: int = AHEAD
    ) -> Iterator[Any]:
        """What tasks find, in their order, `ahead` of them on their way; `begin` begins one."""
        begun = map(begin, asked)
        coming = list(islice(begun, ahead))
        while coming:
            yield self.gather([coming.pop(0)])[0]
            coming += islice(begun, 1)

    def sent(self, given: Any) -> Any:
        """Something for many tasks, which is sent once."""
        return self.submit(_itself, given)

    def call(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Any:
        """What a function returns, called by a worker."""
        return self.gather([self.submit(function, *args, worker=worker)])[0]

    def present(self, given: Any, name: str) -> list[Any] | None:
        """The blocks of a persisted collection, in their order; None where it is not persisted."""
        from dask.core import flatten
        from distributed import futures_of

        known = {future.key: future for future in futures_of(given)}
        keys = list(flatten(given.__dask_keys__()))
        if not known or any(key not in known for key in keys):
            return None
        found = [known[key] for key in keys]
        if any(future.client is not self.client for future in found):
            return None
        self._name(found, name)
        return found

    def holds(self, given: Any) -> bool:
        """Whether something that a collection is made of is on workers already."""
        from distributed import futures_of

        return bool(futures_of(given))

    def _name(self, blocks: list[Any], name: str) -> None:
        """Have messages call blocks by their numbers."""
        self._blocks += [(ref(one), f"block {k} of {name}") for k, one in enumerate(blocks)]

    def hand_over(self, futures: Sequence[Any]) -> None:
        """Results that are somebody's from now on: whatever happens, they are not given up."""
        for future in futures:
            self._begun.pop(id(future), None)

    def release(self) -> None:
        """Give up everything that was begun, done or not."""
        give_up(list(self._begun.values()))
        self._begun.clear()
        self._last = []

    # What can go wrong -------------------------------------------------------------------------

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Have the client's own thread do something."""
        return asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop)

    def _waited_for(
        self,
        work: Coroutine[Any, Any, Any],
        look_up: Callable[[], None] | None = None,
        futures: Sequence[Any] = (),
    ) -> Any:
        """What comes of it, unless there is nobody left who could do it, or nobody wants it.

        None as soon as one of the `futures` has failed.
        """
        coming, watch = self._begin(work), Watch(self)
        try:
            while not wait_for([coming], timeout=AT_A_TIME).done:
                if any(future.status == "error" for future in futures):
                    return None
                watch.look()
                if look_up is not None:
                    look_up()
        finally:
            coming.cancel()
        try:
            return coming.result()
        except (Exception, CancelledError) as error:
            told = self._told(error)
        raise told from told.__cause__

    def _asked(self, operation: str, **given: Any) -> Any:
        """What the scheduler says."""
        if self.client.scheduler is None:
            raise self._gone()
        return self._waited_for(getattr(self.client.scheduler, operation)(**given))

    @contextmanager
    def _sending(self) -> Iterator[None]:
        """Sending tasks, which are as large as the vectors that travel, to a scheduler."""
        import dask

        try:
            # The setting is the whole process's: of two fits in threads, the one that sends later
            # would take that of the other for the user's, and leave it behind.
            with SENDING, dask.config.set({LARGE: "1 TB"}):
                yield
        except Exception as error:
            if self.client.status in ("running", "connecting"):
                raise
            raise self._gone() from error

    def _told(self, error: BaseException) -> Exception:
        """What became of the cluster, or of the data, in one line."""
        from distributed import KilledWorker

        if isinstance(error, Exception) and type(error).__module__.startswith("rosenblatt."):
            return error  # which says in one line what is wrong
        if isinstance(error, KilledWorker):
            times, remedy = error.allowed_failures + 1, "give them more memory, or smaller blocks"
            died = f"{times} workers died in a row" if times > 1 else "a worker died"
            return ClusterError(f"{died} over {self._failed() or 'a part of the data'}: {remedy}")
        if self.client.status != "running" or not self._answers():
            return self._gone()
        if name := self._failed():
            return _caused(error, f"{name} cannot be made: {_named(error)}")
        if isinstance(error, CancelledError):
            lost = "a part of the data was lost with its worker, and nothing says how to make it"
            remedy = "load the data by tasks (from files, say), not by scatter, and fit again"
            return ClusterError(f"{lost} again: {remedy}")
        return _caused(error, f"a part of the data cannot be made again: {_named(error)}")

    def _failed(self) -> str:
        """What the first block that could not be made is called, if there is one."""
        for block, name in self._blocks:
            future = block()
            if future is not None and future.status == "error":
                return name
        return ""

    def _gone(self) -> ClusterError:
        msg = f"the scheduler at {self._address} is gone: start the cluster again and fit again"
        return ClusterError(msg)

    def _deserted(self) -> ClusterError:
        msg = f"the cluster at {self._address} has lost all its workers: start some, and fit again"
        return ClusterError(msg)

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else "an unknown address"

    def _answers(self) -> bool:
        """Whether the scheduler answers."""
        if self.client.scheduler is None:
            return False
        question = self._begin(self.client.scheduler.identity(n_workers=0))
        try:
            question.result(timeout=ANSWER)
        except (Exception, CancelledError):
            return False
        finally:
            question.cancel()
        return True


class Watch:
    """Whether there still are a scheduler and workers, while something is waited for."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._alive = self._manned = self._looked = time.monotonic()
        self._question: Future[Any] | None = None

    def look(self) -> None:
        """Look now and then; raise if one has waited for too long."""
        now, client = time.monotonic(), self._engine.client
        if client.status == "running":
            self._alive = now
        elif now - self._alive > GONE or client.scheduler is None:
            raise self._engine._gone()
        if self._question is not None and self._question.done():
            if self._question.exception() is None and self._question.result()["n_workers"]:
                self._manned = now
            self._question = None
        elif self._question is None and now - self._looked > LOOK:
            self._looked = now
            self._question = self._engine._begin(_tended(client))
        if now - self._manned > DESERTED:
            raise self._engine._deserted()


async def _tended(client: Any) -> Any:
    """What the scheduler says of itself, after it has done what it has forgotten to do."""
    with suppress(Exception):  # one that runs no functions, or knows nothing of this library
        await client.run_on_scheduler(let_others)
    return await client.scheduler.identity(n_workers=0)


def let_others(dask_scheduler: Any) -> None:
    """By the scheduler: have what waits for workers that are gone be done by others.

    It does so by itself, but not with tasks that met with a time in which there was no worker.
    """
    here, waiting = dask_scheduler.workers, list(dask_scheduler.unrunnable)
    stuck = [
        task
        for task in waiting
        if task.loose_restrictions and here.keys().isdisjoint(task.worker_restrictions or ())
    ]
    for task in stuck:
        task.worker_restrictions = None
    changes = {task.key: "processing" for task in stuck}
    if here and changes:
        dask_scheduler.transitions(changes, f"rosenblatt-{uuid.uuid4().hex}")


def n_bytes(given: Any) -> int:
    """About how much there is to send: the numbers of arrays, also in lists of lists."""
    if isinstance(given, list | tuple):
        return sum(map(n_bytes, given))
    return int(getattr(given, "nbytes", 0))


def give_up(futures: Sequence[Any]) -> None:
    """Tell the cluster that nobody wants these any longer, whoever still holds them."""
    for future in futures:
        with suppress(RuntimeError):  # there may be no loop any more
            future.release()


async def _done(futures: list[Any]) -> None:
    """Wait for tasks, by the client that they are of, which need not be the default one."""
    await asyncio.gather(*(future.exception(asynchronous=True) for future in futures))


def _itself(given: Any) -> Any:
    return given


class Guarded:
    """A function that gives back what it raises: what is raised otherwise is the cluster's."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        """What it returns, or has raised."""
        try:
            return self.function(*args)
        except Exception as error:
            return Raised(error)


def end_if_unwanted() -> None:
    """In a task: end it here if nobody waits for it any longer."""
    from distributed import get_worker

    try:
        worker = get_worker()
        task = worker.state.tasks.get(worker.get_current_task())
    except (ValueError, LookupError, AttributeError):  # not in a task
        return
    if task is not None and task.state == "cancelled":
        msg = "nobody wants it any longer"
        raise Unwanted(msg)


def _name_of(function: Any) -> str:
    """What a function is called, without what is given to it already."""
    function = getattr(function, "function", function)  # of a `Guarded`
    while hasattr(function, "func"):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__)).strip("_")


def _named(error: BaseException) -> str:
    """What an error says, in one line, after its kind."""
    return f"{type(error).__name__}: {one_line(error)}"


def _caused(error: BaseException, msg: str) -> ClusterError:
    told = ClusterError(msg)
    told.__cause__ = error
    return told
