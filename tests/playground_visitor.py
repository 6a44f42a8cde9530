"""A playground without a network: what is asked, and what comes back."""

import asyncio

import httpx

import rosenblatt as rb
from rosenblatt.cli.playground import _read as read
from rosenblatt.playground.app import make_app
from rosenblatt.playground.guard import Door
from rosenblatt.playground.held_tables import Tables, held

TOKEN = "the-token"


def new_app(path=None, seconds=600):
    """The application; compiling takes longer than a run may, so runs may take long here."""
    tables = Tables(read)
    if path is not None:
        tables.keep(held(read(path, None, True), path))
    return make_app(Door(TOKEN), tables, seconds=seconds)


class Visitor:
    """A browser, as far as requests go: it keeps its cookies."""

    def __init__(self, app, *, cookie=True):
        self.app, self.cookies = app, httpx.Cookies()
        if cookie:
            self.cookies.set("rosenblatt-playground", TOKEN)

    def ask(self, method, path, **more):
        async def asking():
            transport = httpx.ASGITransport(app=self.app)
            about = {"base_url": "http://localhost:8747", "cookies": self.cookies}
            async with httpx.AsyncClient(transport=transport, **about) as client:
                answer = await client.request(method, path, **more)
                self.cookies = client.cookies
                return answer

        return asyncio.run(asking())

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, **more):
        return self.ask("POST", path, **more)


def points(dataset):
    return {"points": dataset.X.tolist(), "labels": ((dataset.y + 1) // 2).tolist()}


EIGHT = points(rb.datasets.eight_points())
NOISY = points(
    rb.datasets.flip_labels(
        rb.datasets.known_margin(24, 2, margin=0.1, random_state=1), 0.15, random_state=2
    )
)


def asynchronous(app):
    """A client that can ask several questions at once."""
    transport = httpx.ASGITransport(app=app)
    cookies = {"rosenblatt-playground": TOKEN}
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", cookies=cookies)
