"""One request into the guard, around an application that answers everything."""

import asyncio

from mirada.lab.guard import Guard, host_headers

TOKEN = "seven-words-look"
HOST = "127.0.0.1:8642"
LIMIT = 131


class Echo:
    """Answers 200 with what reached it, and remembers whether it was asked."""

    def __init__(self):
        self.asked = 0

    async def __call__(self, scope, receive, send):
        self.asked += 1
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        if scope["path"] == "/fail":
            raise RuntimeError("on purpose")
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}
        )
        if scope["path"] == "/fail-late":
            raise RuntimeError("on purpose")
        await send({"type": "http.response.body", "body": scope["method"].encode() + b" " + body})


def ask(path="/", method="GET", headers=(), body=(b"",), scope=None, gone=False, **options):
    """One request into the guard, `body` in pieces. Returns status, headers, body and times asked."""
    app = Echo()
    guarded = Guard(app, **{"token": TOKEN, "hosts": host_headers(8642), "body_limit": LIMIT} | options)
    given = [(b"host", HOST.encode())] if not any(name == "host" for name, _ in headers) else []
    given += [(name.encode(), value.encode("latin-1")) for name, value in headers if value is not None]
    pieces = body if isinstance(body, list) else list(body)
    sent = []

    async def receive():
        if pieces:
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces) or gone}
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    whole = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "scheme": "http",
        "headers": given,
        "server": ("127.0.0.1", 8642),
        **(scope or {}),
    }
    asyncio.run(guarded(whole, receive, send))
    if not sent:
        return None, {}, b"", app.asked
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(m.get("body", b"") for m in sent[1:]), app.asked
