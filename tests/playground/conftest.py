"""A playground that is asked without a network, or served, and a browser to look at it with."""

import threading
import time

import pytest

from browsing import launched
from playground_visitor import Visitor, new_app

TOKEN = "a-token-of-the-tests"


@pytest.fixture(scope="session")
def playground_app():
    """One application for all tests of a process."""
    return new_app()


@pytest.fixture
def client(playground_app):
    """Someone who has been to the page once."""
    return Visitor(playground_app)


@pytest.fixture(scope="session")
def address():
    """The address of a playground, with its token."""
    uvicorn = pytest.importorskip("uvicorn", reason='needs pip install -e ".[playground]"')
    from rosenblatt.cli.playground import _read
    from rosenblatt.playground.app import make_app
    from rosenblatt.playground.guard import Door
    from rosenblatt.playground.held_tables import Tables

    app = make_app(Door(token=TOKEN), Tables(_read), seconds=600)  # loops may have to be compiled
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/?token={TOKEN}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")  # a loop runs in this thread as long as it is open
def chromium():
    """Debian's Chromium."""
    yield from launched()


@pytest.fixture
def page(chromium, address):
    """The playground as it opens, its run and its verdict there; it may not complain."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(120_000)  # loops may have to be compiled first
    page = context.new_page()
    complaints = []
    page.on("console", lambda m: m.type in ("error", "warning") and complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.locator("#verdict:not([data-verdict=none])").wait_for()
    page.locator("#scrub:not([max='0'])").wait_for()
    yield page
    context.close()
    assert not complaints
