"""Who may talk to the lab. Pure ASGI, in front of everything, so that nothing is answered unguarded.

In this order: the Host must be one of ours (a page elsewhere can point a name of its own at this machine: DNS
rebinding), the Origin must be exactly this one, Sec-Fetch-Site must not say that another site asks, the API
needs the token of this run, and a body has a largest size, whatever it declares.
"""

import asyncio
import contextlib
import hmac
import ipaddress
import sys
import traceback
from collections.abc import Collection, Mapping
from os import environ

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mirada.catalogue import Language, say
from mirada.lab.problems import Problem, answer, is_api

TOKEN_HEADER = "X-Mirada-Token"
BODY_LIMIT = 4 * 2**20
# A refused body is read on for a while, unkept: closing at once would reset the connection before the answer
# is read.
DISCARD_LIMIT = 32 * 2**20
DISCARD_SECONDS = 2.0

HARDENING = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def host_headers(port: int, *names: str) -> frozenset[str]:
    """The Host headers by which a browser may name this server: loopback's, and `names`."""
    bracketed = (f"[{name}]" if ":" in name else name.lower() for name in names)
    every = ("localhost", "127.0.0.1", "[::1]", *bracketed)
    bare = every if port == 80 else ()  # the port that browsers leave out
    return frozenset([*bare, *(f"{name}:{port}" for name in every)])


class Guard:
    """The guard around `app`.

    Args:
        token: what the API asks for in X-Mirada-Token.
        hosts: the Host headers that are ours, lower case, with their port.
        any_address: the server listens on every address of the machine; the one that was reached is ours too.
        language: of the answers, where the request names none.
        body_limit: bytes of a body, but for the paths in `larger`, which have limits of their own.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        hosts: Collection[str],
        any_address: bool = False,
        language: Language | None = None,
        body_limit: int = BODY_LIMIT,
        larger: Mapping[str, int] | None = None,
    ):
        self.app = app
        self.token = token.encode()
        self.hosts = frozenset(hosts)
        self.any_address = any_address
        self.language: Language | None = language
        self.body_limit = body_limit
        self.larger = dict(larger or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        reply, incoming = Reply(scope, send), Incoming(receive)
        try:
            self.check(scope)
            body = await self.read(incoming, self.limit(scope))
        except Problem as problem:
            return await self.refuse(problem, scope, incoming, reply)
        if not incoming.gone:
            await self.serve(scope, body, receive, reply)

    def check(self, scope: Scope) -> None:
        """Raise the Problem of the first check that the request's head fails."""
        headers = Headers(raw=scope["headers"])
        host = only(headers, "host", Problem(421, "host")) or ""
        # A target in absolute form ("GET http://elsewhere/") names a host too, and would win over the header.
        if not self.is_ours(host.lower(), scope) or not scope["path"].startswith("/"):
            raise Problem(421, "host")
        foreign = Problem(403, "origin")
        if only(headers, "origin", foreign) not in (None, f"{scope['scheme']}://{host.lower()}"):
            raise foreign
        site = only(headers, "sec-fetch-site", foreign)
        if site not in (None, "same-origin", "none") and not is_link(scope):
            raise foreign
        if is_api(scope["path"]):
            unknown = Problem(401, "token", headers={"WWW-Authenticate": TOKEN_HEADER})
            token = only(headers, TOKEN_HEADER, unknown) or ""
            if not hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self.token):
                raise unknown
        unclear = Problem(400, "length", headers={"Connection": "close"})
        length = only(headers, "content-length", unclear) or "0"
        both = "content-length" in headers and "transfer-encoding" in headers
        if both or not (length.isascii() and length.isdigit()):
            raise unclear
        limit = self.limit(scope)
        if len(length) > 18 or int(length) > limit:
            raise too_large(limit)

    def limit(self, scope: Scope) -> int:
        return self.larger.get(scope["path"], self.body_limit)

    def is_ours(self, host: str, scope: Scope) -> bool:
        if host in self.hosts:
            return True
        if not self.any_address or not scope.get("server"):
            return False
        address, port = scope["server"]
        reached = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(reached, ipaddress.IPv6Address) and reached.ipv4_mapped:
            reached = reached.ipv4_mapped
        return host in host_headers(port, str(reached))

    async def read(self, incoming: "Incoming", limit: int) -> bytes:
        """The whole body. Raises the Problem 413 as soon as it is too large."""
        body = bytearray()
        while not incoming.done:
            body += await incoming.chunk()
            if len(body) > limit:
                raise too_large(limit)
        return bytes(body)

    async def refuse(self, problem: Problem, scope: Scope, incoming: "Incoming", reply: "Reply") -> None:
        response = answer(problem, scope, self.language)
        start = {
            "type": "http.response.start",
            "status": response.status_code,
            "headers": response.raw_headers,
        }
        await reply(start)
        await reply({"type": "http.response.body", "body": response.body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_SECONDS):
                await incoming.discard(DISCARD_LIMIT)
        await reply({"type": "http.response.body", "body": b"", "more_body": False})

    async def serve(self, scope: Scope, body: bytes, receive: Receive, reply: "Reply") -> None:
        waiting = [body]

        async def replay() -> Message:
            if waiting:
                return {"type": "http.request", "body": waiting.pop(), "more_body": False}
            return await receive()

        try:
            # HEAD is GET without the body, on every route at once; what has no end asks for "mirada.head".
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            await self.app({**scope, "method": method, "mirada.head": reply.head}, replay, reply)
        except Exception as error:
            report(error, scope, self.language or "en")
            if reply.started:
                raise  # half an answer cannot be mended: the server closes the connection
            await answer(Problem(500, "internal"), scope, self.language)(scope, receive, reply)


class Incoming:
    """A request's body, piece by piece: `done` when all of it has come, `gone` when the client went away."""

    def __init__(self, receive: Receive):
        self.receive = receive
        self.done = False
        self.gone = False

    async def chunk(self) -> bytes:
        message = await self.receive()
        self.gone = message["type"] != "http.request"
        self.done = self.gone or not message.get("more_body", False)
        return message.get("body", b"")

    async def discard(self, limit: int) -> None:
        while not self.done and limit > 0:
            limit -= len(await self.chunk())


class Reply:
    """`send`, with the security headers on every answer and without a body for HEAD."""

    def __init__(self, scope: Scope, send: Send):
        self.head = scope["method"] == "HEAD"
        self.send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            message = {**message, "headers": list(message.get("headers", []))}
            headers = MutableHeaders(raw=message["headers"])
            for name, value in HARDENING.items():
                headers.setdefault(name, value)
        elif message["type"] == "http.response.body" and self.head:
            message = {**message, "body": b""}
        await self.send(message)


def too_large(limit: int) -> Problem:
    return Problem(413, "size", {"limit": limit // 2**20}, {"Connection": "close"})


def only(headers: Headers, name: str, problem: Problem) -> str | None:
    """A header's value, None if absent; `problem` is raised if given twice: nobody knows which one counts."""
    values = headers.getlist(name)
    if len(values) > 1:
        raise problem
    return values[0] if values else None


def is_link(scope: Scope) -> bool:
    """Somebody followed a link from another site to a page, in a tab of its own."""
    headers = Headers(raw=scope["headers"])
    return (
        scope["method"] in ("GET", "HEAD")
        and not is_api(scope["path"])
        and headers.get("sec-fetch-site") in ("cross-site", "same-site")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def report(error: Exception, scope: Scope, language: Language) -> None:
    """Tell whoever runs the lab, in the terminal: a sentence, or all of it with MIRADA_DEBUG=1."""
    if environ.get("MIRADA_DEBUG"):
        traceback.print_exception(error)
    particulars = {
        "method": scope["method"],
        "path": scope["path"],
        "kind": type(error).__name__,
        "reason": error,
    }
    print(say("lab.crashed", language, **particulars), file=sys.stderr, flush=True)
