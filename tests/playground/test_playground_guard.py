"""Who is let in, and what browsers are told."""

import asyncio

import pytest

from playground_visitor import EIGHT, TOKEN, Visitor
from rosenblatt.playground.guard import MOST_BYTES, Door

RUN = {"data": EIGHT, "settings": {"algorithm": "perceptron"}}


@pytest.fixture
def stranger(playground_app):
    return Visitor(playground_app, cookie=False)


def test_the_first_visit_moves_the_token_to_a_cookie(stranger):
    answer = stranger.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert stranger.get("/").status_code == 200
    assert stranger.post("/api/run", json=RUN).status_code == 200


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/style.css", "/api/openapi.json"])
def test_without_the_token_nothing_is_answered(stranger, path):
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "token" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("cookie", ["wrong", "", "…", TOKEN[:-1], TOKEN + "x"])
def test_a_wrong_cookie_is_refused(stranger, cookie):
    headers = {"cookie": f"rosenblatt-playground={cookie}".encode()}
    assert stranger.post("/api/run", json=RUN, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8747", "localhost.evil.example", "", "[::", "10.0.0.1"]
)
def test_a_name_that_was_pointed_here_is_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 403
    assert "Host" in answer.text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8747", "LOCALHOST:8747"])
def test_names_of_this_machine_are_let_in(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


def test_addresses_are_names_only_where_others_are_listened_to():
    assert not Door(TOKEN).is_named("192.168.1.7:8747")
    assert Door(TOKEN, anywhere=True).is_named("192.168.1.7:8747")
    assert not Door(TOKEN, anywhere=True).is_named("evil.example")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://localhost:8747"},
        {"origin": "http://localhost:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_other_pages_are_refused(client, headers):
    answer = client.post("/api/run", json=RUN, headers=headers)
    assert answer.status_code == 403
    assert "another page" in answer.json()["detail"]


def test_the_page_itself_is_not(client):
    own = {"origin": "http://localhost:8747", "sec-fetch-site": "same-origin"}
    assert client.post("/api/run", json=RUN, headers=own).status_code == 200


@pytest.mark.parametrize("path", ["/", "/style.css", "/api/openapi.json", "/nothing", "/api/x"])
def test_every_answer_tells_browsers_what_is_allowed(client, stranger, path):
    for answer in (client.get(path), stranger.get(path)):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "no-" in answer.headers["cache-control"]


def test_no_page_of_the_framework_loads_from_elsewhere(client):
    assert [client.get(path).status_code for path in ("/docs", "/redoc")] == [404, 404]


def test_a_body_that_is_too_large_is_refused_whatever_its_header_says(client):
    answer = client.post("/api/table", content=b"x" * (MOST_BYTES + 1))
    assert (answer.status_code, "8 MB" in answer.json()["detail"]) == (413, True)

    async def parts():
        for _ in range(9):
            yield b" " * 1_000_000

    answer = client.post("/api/table", content=parts())
    assert (answer.status_code, "8 MB" in answer.json()["detail"]) == (413, True)


def test_no_path_leads_out_of_the_page(playground_app):
    client = Visitor(playground_app)
    for path in (
        "/../app.py",
        "/%2e%2e/app.py",
        "/js/..%2f..%2fapp.py",
        "/..%5capp.py",
        "//etc/passwd",
    ):
        assert client.get(path).status_code == 404


def test_other_kinds_of_connections_are_left_alone(playground_app):
    async def nothing(*_):
        raise AssertionError

    scope = {"type": "websocket", "path": "/", "headers": []}
    asyncio.run(playground_app.middleware_stack(scope, nothing, nothing))
