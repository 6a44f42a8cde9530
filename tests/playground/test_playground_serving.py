"""Where the server listens, and what the command says of it."""

import socket
import sys

import pytest

from commands import invoke, one_line
from playground_visitor import Visitor
from rosenblatt.playground import serving
from rosenblatt.playground.serving import Playground, is_loopback, listen


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        *((host, True) for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8")),
        *((host, False) for host in ("0.0.0.0", "::", "192.168.0.1", "somewhere")),
    ],
)
def test_who_can_reach_it(host, alone):
    assert is_loopback(host) == alone


def test_a_port_in_use_gets_another_unless_it_was_asked_for(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(serving, "PORTS", range(port, port + 1))
        with listen("127.0.0.1", None) as found:
            assert found.getsockname()[1] != port
            assert found.proto == socket.IPPROTO_TCP  # so that answers are sent at once
        with pytest.raises(ValueError, match=f"--port {port} at 127.0.0.1 cannot be used"):
            listen("127.0.0.1", port)


def test_the_address_lets_its_owner_in():
    server = Playground("127.0.0.1", 0)
    try:
        assert server.address == f"http://127.0.0.1:{server.port}/?token={server.token}"
        assert len(server.token) >= 32
        visitor = Visitor(server.app, cookie=False)
        assert visitor.get("/").status_code == 403
        answer = visitor.get(server.address)
        assert answer.status_code == 303
        assert f"rosenblatt-playground-{server.port}=" in answer.headers["set-cookie"]
        assert visitor.get("/", headers={"host": "10.1.2.3"}).status_code == 403
    finally:
        server.socket.close()


def test_others_are_let_in_only_where_they_are_listened_to():
    server = Playground("0.0.0.0", 0)
    try:
        assert server.address.startswith(f"http://127.0.0.1:{server.port}/")
        visitor = Visitor(server.app, cookie=False)
        answer = visitor.get(f"/?token={server.token}", headers={"host": "10.1.2.3:80"})
        assert answer.status_code == 303
    finally:
        server.socket.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--port", "70000"], "65535"),
        (["--host", "no.such.host.invalid"], "no address of this machine"),
        (["nothing.csv"], "there is no file nothing.csv"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(arguments, words):
    done = invoke("playground", "--no-browser", *arguments)
    assert done.exit_code == 2
    assert words in one_line(done.stderr)


def test_a_missing_extra_is_answered_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "rosenblatt.playground.serving")
    done = invoke("playground", "--no-browser")
    assert done.exit_code == 2
    assert 'pip install "rosenblatt[playground]"' in one_line(done.stderr)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_command_says_where_the_page_is_and_to_whom(host, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda address: None)
    monkeypatch.setattr(Playground, "run", lambda self, ready: (ready(), self.socket.close()))
    done = invoke("playground", "examples/banknotes.csv", "--port", "0", "--host", host)
    assert done.exit_code == 0
    assert "The playground is at http://127.0.0.1:" in done.stdout
    assert ("nothing is encrypted" in done.stderr) == (host == "0.0.0.0")


def test_warming_up_answers_every_kind_of_question():
    serving.warm_up()
