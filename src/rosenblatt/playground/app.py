"""The addresses of the playground: what is asked there, and what is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

import rosenblatt as rb
from rosenblatt.playground import answers, schemas
from rosenblatt.playground.entries import Extent
from rosenblatt.playground.generating import generate
from rosenblatt.playground.guard import Door, Guard
from rosenblatt.playground.held_tables import Tables, UnknownTableError
from rosenblatt.playground.judging import judge
from rosenblatt.playground.recording import page_text, recording, with_held
from rosenblatt.playground.reproducing import code
from rosenblatt.playground.runs import SECONDS, run
from rosenblatt.playground.samples import samples_of
from rosenblatt.playground.working import BusyError, GoneError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

# What happens here is nobody else's business, whatever the environment says.
NO_TELEMETRY: Any = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
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
        The most time that the training of one run may take. It stands in ``app.state.seconds``,
        where it may be changed.
    """
    workers = Workers()
    held = tables or Tables()
    app = FastAPI(
        title="rosenblatt playground",
        version=rb.__version__,
        docs_url=None,  # they load from other hosts
        redoc_url=None,
        openapi_url="/api/openapi.json",
        telemetry=NO_TELEMETRY,
    )
    app.state.workers, app.state.tables, app.state.seconds = workers, held, seconds
    _add_questions(app, workers, held)
    _add_refusals(app)
    app.add_middleware(Guard, door=door)

    @app.get("/", include_in_schema=False)
    async def first_page() -> Response:
        """The page; it is told which table is held."""
        return HTMLResponse(with_held(page_text("index.html"), held.first))

    app.mount("/", StaticFiles(packages=[(__package__, "static")], html=True))
    return app


def _add_questions(app: FastAPI, workers: Workers, tables: Tables) -> None:
    """The addresses under /api."""

    async def done(request: Request, work: Callable[[], BaseModel]) -> Response:
        return await workers.do(request, lambda: _as_json(work()))

    @app.post("/api/run", response_model=answers.Run, responses=REFUSALS)
    async def run_(asked: schemas.RunAsked, request: Request) -> Response:
        """Train, and tell every update."""
        extent, seconds = Extent(asked.around, asked.most), app.state.seconds
        return await done(
            request, lambda: run(samples_of(asked.data, tables), asked.settings, extent, seconds)
        )

    @app.post("/api/generate", response_model=answers.Generated, responses=REFUSALS)
    async def generate_(asked: schemas.GenerateAsked, request: Request) -> Response:
        """Data about which something is known."""
        return await done(request, lambda: generate(asked))

    @app.post("/api/table", response_model=answers.TableRead, responses=REFUSALS)
    async def table_(asked: schemas.TableAsked, request: Request) -> Response:
        """A table as text, made into points or held."""
        return await done(request, lambda: tables.paste(asked.text, asked.target))

    @app.get("/api/held/{table}", response_model=answers.Held, responses=REFUSALS)
    async def held_(table: schemas.Fingerprint) -> Response:
        """What is known of a table that is held."""
        return _as_json(tables.get(table).described())

    @app.post("/api/code", response_model=answers.Code, responses=REFUSALS)
    async def code_(asked: schemas.CodeAsked, request: Request) -> Response:
        """Python code and a command that do the same."""
        return await done(request, lambda: code(samples_of(asked.data, tables), asked.settings))

    @app.post("/api/recording", response_class=HTMLResponse, responses=REFUSALS)
    async def recording_(asked: schemas.RecordingAsked, request: Request) -> Response:
        """The runs in one HTML file, to be played without a server."""
        most = app.state.seconds
        text = await workers.do(request, lambda: recording(asked, tables, most))
        named = {"Content-Disposition": 'attachment; filename="recording.html"'}
        return HTMLResponse(text, headers=named)

    @app.post("/api/judge", response_model=answers.Judgement, responses=REFUSALS)
    async def judge_(asked: schemas.JudgeAsked, request: Request) -> Response:
        """Whether hyperplanes separate the classes, with the proof."""
        most = app.state.seconds
        return await done(request, lambda: judge(samples_of(asked.data, tables), asked, most))


def _as_json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


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
    inside = (str(part) for part in first["loc"][1:])
    where = ".".join(part for part in inside if "[" not in part)[:200]  # no names of our types
    what = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {what}" if where else what
