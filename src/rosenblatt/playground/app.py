"""The addresses of the playground: what is asked there, and what is answered."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

import rosenblatt as rb
from rosenblatt.playground import answers, schemas
from rosenblatt.playground.guard import Door, Guard
from rosenblatt.playground.held_tables import Tables, UnknownTableError
from rosenblatt.playground.judging import judge
from rosenblatt.playground.runs import SECONDS, run
from rosenblatt.playground.samples import samples_of
from rosenblatt.playground.working import BusyError, GoneError, Workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pydantic import BaseModel

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": answers.Trouble, "description": "The body is no JSON."},
    403: {"model": answers.Trouble, "description": "Wrong token, Host or Origin."},
    404: {"model": answers.Trouble, "description": "There is no such table."},
    413: {"model": answers.Trouble, "description": "The body is too large."},
    422: {"model": answers.Trouble, "description": "Why it cannot be answered, in a sentence."},
    503: {"model": answers.Trouble, "description": "Too much is waiting."},
}


def make_app(door: Door, tables: Tables | None = None, seconds: float = SECONDS) -> FastAPI:
    """The application: its addresses behind a guard.

    Parameters
    ----------
    door : Door
        Who may come in.
    tables : Tables, optional
        Tables to hold from the beginning.
    seconds : float
        The most time that the training of one run may take.
    """
    workers = Workers()
    held = tables or Tables()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        workers.stop()

    app = FastAPI(
        title="rosenblatt playground",
        version=rb.__version__,
        docs_url=None,  # they load from other hosts
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.workers, app.state.tables = workers, held
    _add_questions(app, workers, held, seconds)
    _add_refusals(app)
    app.add_middleware(Guard, door=door)
    app.mount("/", StaticFiles(packages=[(__package__, "static")], html=True))
    return app


def _add_questions(app: FastAPI, workers: Workers, tables: Tables, seconds: float) -> None:
    """The addresses under /api."""

    async def done(request: Request, work: Callable[[], BaseModel]) -> Response:
        text = await workers.do(request, lambda: work().model_dump_json())
        return Response(text, media_type="application/json")

    @app.post("/api/run", response_model=answers.Run, responses=REFUSALS)
    async def run_(asked: schemas.RunAsked, request: Request) -> Response:
        """Train, and tell every update."""
        settings, around = asked.settings, asked.around
        return await done(
            request, lambda: run(samples_of(asked.data, tables), settings, around, seconds)
        )

    @app.post("/api/judge", response_model=answers.Judgement, responses=REFUSALS)
    async def judge_(asked: schemas.JudgeAsked, request: Request) -> Response:
        """Whether hyperplanes separate the classes, with the proof."""
        return await done(request, lambda: judge(samples_of(asked.data, tables), asked))


def _add_refusals(app: FastAPI) -> None:
    """One sentence for whatever cannot be answered."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return _refusal(422, _sentence(error))

    @app.exception_handler(HTTPException)
    async def other(_: Request, error: HTTPException) -> Response:
        return _refusal(error.status_code, str(error.detail), error.headers)

    @app.exception_handler(ValueError)
    async def impossible(_: Request, error: ValueError) -> Response:
        return _refusal(422, " ".join(str(error).split()))

    @app.exception_handler(UnknownTableError)
    async def unknown(_: Request, error: UnknownTableError) -> Response:
        return _refusal(404, str(error))

    @app.exception_handler(BusyError)
    async def busy(_: Request, __: BusyError) -> Response:
        return _refusal(503, "Too much is waiting here: ask again.", {"Retry-After": "1"})

    @app.exception_handler(GoneError)
    async def gone(_: Request, __: GoneError) -> Response:
        return Response(status_code=499)  # nobody reads it


def _refusal(code: int, why: str, headers: Any = None) -> Response:
    why = why.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent
    return JSONResponse({"detail": why}, code, headers)


def _sentence(error: RequestValidationError) -> str:
    """Where the first thing is that does not fit, and why."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])[:200]
    what = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {what}" if where else what
