"""Starts the lab: binds a port, tells its address, opens the browser, ends at once when told to."""

import asyncio
import contextlib
import errno
import ipaddress
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from http import HTTPStatus

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mirada.catalogue import LANGUAGES, Language, say
from mirada.lab import DEFAULT_PORT
from mirada.lab.app import create_app
from mirada.lab.guard import HARDENING, host_headers
from mirada.views.page import read_bundle

PORTS_TRIED = 50
# A browser keeps six for all its tabs; a process may have some hundreds of files open.
MOST_CONNECTIONS = 100

Tell = Callable[..., None]
"""Says a sentence of the catalogue to whoever started the lab: tell(key, **values)."""


class CannotListen(Exception):
    """The lab cannot be reached at that address and port. `key` is the catalogue's sentence for it."""

    def __init__(self, key: str, **values: object):
        super().__init__(key)
        self.key = key
        self.values = values


def run(host: str, port: int | None, language: Language | None, *, browser: bool, tell: Tell) -> None:
    """Serve the lab until Ctrl-C or SIGTERM.

    Args:
        host: an address or a name of this machine.
        port: exactly this one (0: any that is free); None takes the first free one from DEFAULT_PORT on.
        language: of the pages; None asks the browser.
        browser: whether to open one, once the lab can be reached.
        tell: how to speak to whoever started it.

    Raises:
        CannotListen: the address or the port cannot be had.
        BundleMissing: the page has not been built.
    """
    for each in LANGUAGES:
        read_bundle(each)
    listener = listen(host, port)
    address, bound = listener.getsockname()[:2]
    if port is None and bound != DEFAULT_PORT:
        tell("lab.next_port", taken=DEFAULT_PORT, port=bound)
    everywhere = ipaddress.ip_address(address).is_unspecified
    names = [socket.gethostname()] if everywhere else [host, address]
    app = create_app(
        secrets.token_urlsafe(32), language, hosts=host_headers(bound, *names), any_address=everywhere
    )
    if not ipaddress.ip_address(address).is_loopback:
        tell("lab.open_warning_all" if everywhere else "lab.open_warning", address=address)
    url = f"http://{url_host(address, everywhere)}:{bound}/"

    def ready() -> None:
        tell("lab.ready", url=url)
        if browser:
            # Some openers wait for the browser to end.
            threading.Thread(target=open_browser, args=(url,), daemon=True).start()

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=0,
    )
    try:
        asyncio.run(Server(config, ready).serve([listener]))
    finally:
        # Whoever cannot wait for the runs to be saved may press Ctrl-C once more: they save by themselves.
        with contextlib.suppress(KeyboardInterrupt):
            app.state.jobs.close()


class Server(uvicorn.Server):
    """Uvicorn, except that a signal ends it at once, quietly, whoever is still connected."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]):
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    def handle_exit(self, sig: int, frame: object) -> None:
        self.should_exit = self.force_exit = True


class Protocol(H11Protocol):
    """Uvicorn's HTTP, except that what is no HTTP is refused with our headers, never with a traceback.

    A connection too many is refused likewise, and one on which nothing is said is closed, as one on which
    nothing more is said.
    """

    crowded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self.crowded = len(self.connections) > MOST_CONNECTIONS
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        if not self.crowded:
            return super().data_received(data)
        # Not before: what is closed with something unread is reset, and the answer with it.
        if not self.transport.is_closing():
            self.refuse(503, "problem.crowded", most=MOST_CONNECTIONS)

    def send_400_response(self, msg: str) -> None:
        self.refuse(400, "problem.request")

    def refuse(self, status: int, key: str, **values: object) -> None:
        said = "\n".join(say(key, language, **values) for language in LANGUAGES).encode()
        headers = {
            **HARDENING,
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(said)),
            "Connection": "close",
        }
        answer = h11.Response(
            status_code=status, headers=list(headers.items()), reason=HTTPStatus(status).phrase.encode()
        )
        # An answer that has begun already cannot be taken back: then the connection just ends.
        with contextlib.suppress(h11.LocalProtocolError):
            for event in (answer, h11.Data(data=said), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens at `host`: on `port`, or where that is None on the first free one."""
    try:
        family, _, _, _, place = socket.getaddrinfo(
            host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise CannotListen("lab.unknown_host", host=host) from None
    wanted = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    for candidate in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((place[0], candidate, *place[2:]))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE:
                continue
            if error.errno == errno.EACCES:
                raise CannotListen("lab.forbidden_port", port=candidate) from None
            raise CannotListen("lab.not_here", host=host, reason=error.strerror) from None
    if port is None:
        raise CannotListen("lab.no_port", first=DEFAULT_PORT, last=DEFAULT_PORT + PORTS_TRIED - 1)
    raise CannotListen("lab.taken_port", port=port)


def url_host(address: str, everywhere: bool) -> str:
    """How a browser on this machine names the address."""
    if everywhere:
        return "127.0.0.1"
    return f"[{address}]" if ":" in address else address


def open_browser(url: str) -> None:
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return  # none here: the address has been printed
    # Exactly this class is a browser that runs inside the terminal and would take it over.
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)
