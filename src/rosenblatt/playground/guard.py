"""Who may ask: token, Host and Origin; how much; and what browsers are told to allow.

The page is on this machine, but so are all the others that the person's browser has open. A page
elsewhere must not be able to ask (its Origin and Sec-Fetch-Site tell), nor one whose name was
pointed at this machine (its Host tells), nor another user of the machine (who has no token).
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 8_000_000  # in the body of a request
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
API = "/api/"
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
NO_TOKEN = (
    "This page needs the token that the command printed: open the whole address, "
    "http://…/?token=…, from the terminal."
)


@dataclass(frozen=True)
class Door:
    """What lets a request in: the token, the names of this machine, the name of the cookie.

    `anywhere`: addresses in numbers are names of it, too, as it does not only listen to itself.
    """

    token: str = field(repr=False)
    names: frozenset[str] = LOCAL
    anywhere: bool = False
    cookie: str = "rosenblatt-playground"

    def knows(self, token: str) -> bool:
        """Whether it is the token; takes as long for a wrong one."""
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def is_named(self, host: str) -> bool:
        """Whether a Host header names this machine."""
        name = _host_name(host)
        if name in self.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.anywhere

    def refuses(self, headers: Headers, path: str) -> str | None:
        """Why a request is not answered, if it is not; the token is not asked for here."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.is_named(host):
            return "The Host of this request is not this machine."
        if origin is not None and origin != f"http://{host}":
            return "This request comes from another page."
        site = headers.get("sec-fetch-site", "same-origin")
        if path.startswith(API) and site not in ("same-origin", "none"):
            return "This request comes from another page."
        return None

    def has_cookie(self, headers: Headers) -> bool:
        """Whether the request has the token in its cookie."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and self.knows(found.value)


def _host_name(host: str) -> str:
    """``127.0.0.1:8888`` without its port, ``[::1]:8888`` without brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class Guard:
    """ASGI middleware: lets nothing in that the door refuses, and adds headers to all answers."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":  # no websockets here
            return
        guarded = _with_headers(send, scope["path"])
        answer = self._answer(scope)
        if answer is not None:
            await answer(scope, receive, guarded)
            return
        await self.app(scope, _Body(receive).receive, guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """What is answered at the door; None: come in."""
        headers, path = Headers(scope=scope), scope["path"]
        why = self.door.refuses(headers, path)
        if why is not None:
            return _refusal(403, why)
        try:
            asked = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=20)
        except ValueError:
            asked = {}
        if path == "/" and any(self.door.knows(token) for token in asked.get("token", [])):
            return self._first_visit()
        if not self.door.has_cookie(headers):
            return PlainTextResponse(NO_TOKEN, 403) if path == "/" else _refusal(403, NO_TOKEN)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > MOST_BYTES:
            return _refusal(413, TOO_LARGE)
        return None

    def _first_visit(self) -> Response:
        """The token moves from the address, which is seen and kept, to a cookie."""
        answer = RedirectResponse("/", 303)
        door = self.door
        answer.set_cookie(door.cookie, door.token, path="/", httponly=True, samesite="strict")
        return answer


TOO_LARGE = f"A request may have {MOST_BYTES // 1_000_000} MB at most: send fewer data."


class _Body:
    """Counts the bytes of a body that comes in parts, whatever its header says."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._size = receive, 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > MOST_BYTES:
            raise HTTPException(413, TOO_LARGE)
        return message


def _refusal(code: int, why: str) -> Response:
    return JSONResponse({"detail": why}, code)


def _with_headers(send: Send, path: str) -> Any:
    """`send` that adds the headers to every answer."""
    caching = "no-store" if path.startswith(API) or path == "/" else "no-cache"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers["Cache-Control"] = caching
        await send(message)

    return sending
