"""The server: where it listens, what it warms up, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn

from rosenblatt.playground import schemas
from rosenblatt.playground.app import make_app
from rosenblatt.playground.guard import LOCAL, Door
from rosenblatt.playground.held_tables import Tables
from rosenblatt.playground.judging import judge
from rosenblatt.playground.runs import SECONDS, run
from rosenblatt.playground.samples import samples_of
from rosenblatt.playground.working import without_warnings
from rosenblatt.running.threads import one_blas_thread

if TYPE_CHECKING:
    from types import FrameType

    from fastapi import FastAPI

PORTS = range(8747, 8767)  # tried one after the other, unless one is asked for
COMPILING = 300.0  # seconds that a run may take until all is warm: loops may have to be compiled
PATIENCE = 0.3  # seconds that work has to end, after Ctrl-C
ALGORITHMS = (
    *("perceptron", "pocket", "average", "kernel", "vote"),
    *("adaline", "max-margin", "soft-margin"),
)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at the port asked for, or at the first free one."""
    for one in PORTS if port is None else [port]:
        try:
            return _bound(host, one)
        except socket.gaierror:
            msg = f"--host {host} is no address of this machine: give 127.0.0.1"
            raise ValueError(msg) from None
        except OverflowError:
            msg = f"--port {port} is no port: give a number from 0 to 65535"
            raise ValueError(msg) from None
        except OSError as error:
            if port is not None:
                why = (error.strerror or str(error)).lower()
                msg = f"--port {port} at {host} cannot be used, {why}: leave it out for a free one"
                raise ValueError(msg) from None
    return _bound(host, 0)


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # With its protocol, or asyncio would not have answers sent at once (TCP_NODELAY).
    found = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(2048)
    except BaseException:
        found.close()
        raise
    return found


class Playground:
    """A server that listens and can be run."""

    def __init__(self, host: str, port: int | None, tables: Tables | None = None) -> None:
        self.socket = listen(host, port)
        self.host, self.port = host, int(self.socket.getsockname()[1])
        self.token = secrets.token_urlsafe(24)
        local = is_loopback(host)
        names = LOCAL if local else LOCAL | {host.lower(), socket.gethostname().lower()}
        cookie = f"rosenblatt-playground-{self.port}"  # browsers do not tell ports apart
        door = Door(self.token, frozenset(names), not local, cookie)
        self.app = make_app(door, tables, COMPILING)

    @property
    def address(self) -> str:
        """What to open, with the token."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        host = f"[{host}]" if ":" in host and "[" not in host else host
        return f"http://{host}:{self.port}/?token={self.token}"

    def run(self, ready: Callable[[], None]) -> None:
        """Answer until Ctrl-C, which is raised again; `ready` is called when all is set."""
        config = uvicorn.Config(
            self.app,
            log_level="error",
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="off",
            timeout_keep_alive=30,
        )
        server = _Server(config, self.app, ready)
        threading.Thread(target=self._warm_up, daemon=True).start()
        try:
            with one_blas_thread():  # there are threads enough, and matrices are small
                server.run(sockets=[self.socket])
        finally:
            self.socket.close()
            self._leave_work()
        if server.interrupted:  # where a shell has the signal ignored, nobody else says so
            raise KeyboardInterrupt

    def _warm_up(self) -> None:
        warm_up()
        self.app.state.seconds = SECONDS

    def _leave_work(self) -> None:
        """Give what is being computed a moment to end; what does not is left without a word."""
        workers = self.app.state.workers
        workers.stop()
        end = time.monotonic() + PATIENCE
        while workers.busy and time.monotonic() < end:
            time.sleep(0.01)
        if workers.busy:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(130)


class _Server(uvicorn.Server):
    """Uvicorn's server, which ends at the first Ctrl-C."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._ready = app, ready
        self.interrupted = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so."""
        await super().startup(sockets)
        asyncio.get_running_loop().call_soon(self._ready)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Wait for nobody, and say nothing of what is broken off."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
        super().handle_exit(sig, frame)
        self.force_exit, self.interrupted = True, sig == signal.SIGINT
        self._app.state.workers.stop()


def warm_up() -> None:
    """Load what answers need, and compiled code, before the first question comes."""
    points = [[0, 0], [1, 3], [2, 1], [4, 4], [5, 2], [6, 6], [0, 5], [5, 0], [3, 3]]
    two = {"points": points, "labels": [0, 0, 0, 1, 1, 1, 0, 1, 0]}
    three = {"points": points, "labels": [0, 0, 0, 1, 1, 1, 2, 2, 2]}
    with without_warnings():
        for data in (two, three):
            for algorithm in ALGORITHMS:
                _run(data, {"algorithm": algorithm})
            judged = schemas.JudgeAsked.model_validate({"data": data})
            judge(samples_of(judged.data, Tables()), judged, COMPILING)
        for way in ({"update": "batch"}, {"order": "shuffled"}):
            _run(two, {"algorithm": "perceptron", **way})
        _run(three, {"algorithm": "perceptron", "multiclass": "joint"})


def _run(data: dict[str, Any], settings: dict[str, Any]) -> None:
    asked = schemas.RunAsked.model_validate({"data": data, "settings": settings})
    run(samples_of(asked.data, Tables()), asked.settings, seconds=COMPILING)
