"""The guard, one request at a time: what it lets through, and what it refuses before anything is read."""

import asyncio
import json
from typing import Any

import pytest
from asking import HOST, LIMIT, TOKEN, Echo, ask

from mirada.lab import guard as guard_module
from mirada.lab.guard import Guard, host_headers


def code(answer):
    return json.loads(answer[2])["error"]["code"]


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "LocalHost:8642", "[::1]:8642"])
def test_our_own_names_are_let_in(host):
    assert ask(headers=[("host", host)])[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8642",  # DNS rebinding: a name of theirs that points here
        "localhost.evil.example:8642",
        "127.0.0.1.nip.io:8642",
        "localhost",
        "127.0.0.1",
        "127.0.0.1:8643",
        "127.0.0.1:8642:8642",
        "127.0.0.1:08642",
        "127.0.0.1.:8642",
        "localhost.:8642",
        "127.1:8642",
        "2130706433:8642",
        "0.0.0.0:8642",
        "::1:8642",
        "[::1]",
        "[::ffff:127.0.0.1]:8642",
        "user@127.0.0.1:8642",
        "127.0.0.1:8642, evil.example",
        "127.0.0.1:8642 ",
        "",
        None,
    ],
)
def test_a_foreign_host_is_misdirected(host):
    status, _, body, asked = ask(headers=[("host", host)])
    assert (status, asked) == (421, 0)
    assert "terminal" in body.decode()


def test_two_hosts_are_none():
    assert ask(headers=[("host", HOST), ("host", HOST)])[0] == 421


@pytest.mark.parametrize("path", ["http://evil.example/", f"http://{HOST}/", "*", ""])
def test_a_target_that_is_not_a_path_is_misdirected(path):
    assert ask(path=path)[0] == 421


def test_the_address_that_was_asked_for_is_ours_too():
    hosts = host_headers(8642, "Mirada.Local", "fe80::7")
    assert ask(headers=[("host", "mirada.local:8642")], hosts=hosts)[0] == 200
    assert ask(headers=[("host", "[fe80::7]:8642")], hosts=hosts)[0] == 200
    assert ask(headers=[("host", "mirada.lan:8642")], hosts=hosts)[0] == 421


def test_on_port_80_a_browser_leaves_the_port_out():
    assert {"localhost", "127.0.0.1", "[::1]", "localhost:80"} < host_headers(80)
    assert "localhost" not in host_headers(8642)


@pytest.mark.parametrize(
    ("reached", "host"),
    [
        ("192.168.1.7", "192.168.1.7:8642"),
        ("fe80::7%eth0", "[fe80::7]:8642"),
        ("::ffff:192.168.1.7", "192.168.1.7:8642"),
    ],
)
def test_listening_everywhere_the_address_that_was_reached_is_ours(reached, host):
    scope = {"server": (reached, 8642)}
    assert ask(headers=[("host", host)], scope=scope, any_address=True)[0] == 200
    assert ask(headers=[("host", host)], scope=scope)[0] == 421
    for foreign in ("192.168.1.8:8642", "evil.example:8642", "192.168.1.7:8643"):
        assert ask(headers=[("host", foreign)], scope=scope, any_address=True)[0] == 421


@pytest.mark.parametrize("host", [HOST, "localhost:8642", "[::1]:8642"])
def test_only_the_page_itself_is_the_same_origin(host):
    assert ask(headers=[("host", host), ("origin", f"http://{host}")])[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",  # a file, a sandboxed frame
        "https://127.0.0.1:8642",
        "http://127.0.0.1",
        "http://127.0.0.1:8643",
        "http://localhost:8642",  # ours too, but not where this page came from
        "http://127.0.0.1:8642.evil.example",
        "http://127.0.0.1:8642/",
        "HTTP://127.0.0.1:8642 http://evil.example",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/about"])
def test_a_foreign_origin_is_forbidden(origin, path):
    status, _, _, asked = ask(path, headers=[("origin", origin), ("x-mirada-token", TOKEN)])
    assert (status, asked) == (403, 0)


def test_two_origins_are_forbidden():
    assert ask(headers=[("origin", f"http://{HOST}"), ("origin", f"http://{HOST}")])[0] == 403


def fetched(site, mode="navigate", dest="document"):
    return [
        ("sec-fetch-site", site),
        ("sec-fetch-mode", mode),
        ("sec-fetch-dest", dest),
        ("x-mirada-token", TOKEN),
    ]


@pytest.mark.parametrize(
    ("status", "path", "method", "headers"),
    [
        (200, "/", "GET", fetched("none")),
        (200, "/api/about", "GET", fetched("same-origin", "cors", "empty")),
        (200, "/words", "GET", fetched("cross-site")),  # a link in a mail, in a course's page
        (200, "/words", "HEAD", fetched("same-site")),
        (403, "/words", "GET", fetched("cross-site", "no-cors", "script")),
        (403, "/words", "GET", fetched("cross-site", "navigate", "iframe")),
        (403, "/words", "GET", fetched("same-site", "cors", "empty")),  # another port of this machine
        (403, "/words", "POST", fetched("cross-site")),
        (403, "/api/about", "GET", fetched("cross-site")),
        (403, "/api", "GET", fetched("same-site")),
        (403, "/", "GET", fetched("sideways")),
        (403, "/", "GET", fetched("")),
        (403, "/", "GET", [*fetched("none"), *fetched("none")]),
    ],
)
def test_another_site_may_link_to_a_page_and_nothing_more(status, path, method, headers):
    assert ask(path, method, headers)[0] == status


@pytest.mark.parametrize("token", [None, "", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), f" {TOKEN}", "ñ"])
@pytest.mark.parametrize("path", ["/api", "/api/about", "/api/nothing"])
def test_the_api_needs_the_token_of_this_run(token, path):
    answer = ask(path, headers=[("x-mirada-token", token)])
    assert (answer[0], answer[3], code(answer)) == (401, 0, "token")
    assert answer[1]["www-authenticate"] == "X-Mirada-Token"
    assert ask(path, headers=[("x-mirada-token", TOKEN)])[0] == 200


def test_two_tokens_are_none():
    assert ask("/api/about", headers=[("x-mirada-token", TOKEN), ("x-mirada-token", TOKEN)])[0] == 401


@pytest.mark.parametrize("path", ["/", "/words", "/apiary"])
def test_pages_need_no_token(path):
    assert ask(path)[0] == 200


def test_the_checks_come_in_order():
    wrong = [
        ("host", "evil.example"),
        ("origin", "http://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("content-length", str(LIMIT + 1)),
    ]
    seen = []
    for fixed in range(6):
        right = [("host", HOST), ("origin", f"http://{HOST}"), ("sec-fetch-site", "same-origin")]
        headers = [*right[:fixed], *wrong[fixed:]] if fixed < 4 else right
        if fixed == 3:
            headers = [*right, wrong[3]]
        if fixed >= 4:
            headers = [
                *right,
                ("x-mirada-token", TOKEN),
                ("content-length", str(LIMIT + 1) if fixed == 4 else "0"),
            ]
        seen.append(ask("/api/about", headers=headers)[0])
    assert seen == [421, 403, 403, 401, 413, 200]


TOKENED = [("x-mirada-token", TOKEN)]


@pytest.mark.parametrize("length", [str(LIMIT + 1), "9" * 19, "9" * 5000])
def test_a_body_that_declares_too_much_is_refused_unread(length):
    answer = ask("/api/about", "POST", [*TOKENED, ("content-length", length)], body=[b"x"])
    assert (answer[0], answer[3], code(answer)) == (413, 0, "size")
    assert answer[1]["connection"] == "close"


@pytest.mark.parametrize("length", ["-1", "+7", "7.0", "x", "0x7", "7, 7", "٧".encode().decode("latin-1")])
def test_a_length_that_is_no_number_is_refused(length):
    answer = ask("/api/about", "POST", [*TOKENED, ("content-length", length)])
    assert (answer[0], answer[3]) == (400, 0)


def test_a_length_that_is_said_twice_over_is_refused_and_the_connection_ends():
    for more in (("content-length", "0"), ("transfer-encoding", "chunked")):
        answer = ask("/api/about", "POST", [*TOKENED, ("content-length", "0"), more])
        assert (answer[0], answer[3], answer[1]["connection"]) == (400, 0, "close")


@pytest.mark.parametrize("declared", [[], [("content-length", "7")]])
def test_a_body_is_counted_whatever_it_declares(declared):
    pieces = [b"x" * 43] * 3
    status, _, body, _ = ask("/api/about", "POST", TOKENED + declared, body=[*pieces, b"xx"])
    assert (status, body) == (200, b"POST " + b"x" * LIMIT)
    answer = ask("/api/about", "POST", TOKENED + declared, body=[*pieces, b"xxx"])
    assert (answer[0], answer[3], code(answer)) == (413, 0, "size")


def test_an_endless_body_is_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(guard_module, "DISCARD_LIMIT", 997)
    read = []

    class Endless(list):
        def pop(self, index: Any = -1):
            read.append(1)
            return b"x" * 101

    assert ask("/api/about", "POST", TOKENED, body=Endless([b"", b""]))[0] == 413
    assert len(read) == 12  # two pieces to reach the limit, ten to be rid of the rest


def test_a_client_that_goes_away_is_not_answered():
    assert ask("/api/about", "POST", TOKENED, body=[b"x"], gone=True)[::3] == (None, 0)


def test_a_websocket_is_closed():
    sent = []

    async def send(message):
        sent.append(message)

    guarded = Guard(Echo(), token=TOKEN, hosts=host_headers(8642))
    asyncio.run(guarded({"type": "websocket", "path": "/"}, None, send))  # pyright: ignore[reportArgumentType]
    assert sent == [{"type": "websocket.close", "code": 1008}]
