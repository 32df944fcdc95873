"""The lab as a process: where it listens, what it says, how it ends. Real sockets, on this machine only."""

import http.client
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mirada.lab import DEFAULT_PORT
from mirada.lab.guard import HARDENING

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are told apart by POSIX alone")

ADDRESS = re.compile(r"http://(\[[^]]*]|[^:]*):(\d+)/")


class Lab:
    """`mirada lab` with these options, running, after `prelude`; it is killed whatever happens."""

    def __init__(self, *options, prelude="", **environment):
        for name in ("LC_ALL", "LC_MESSAGES", "MIRADA_LAB_PORT", "MIRADA_DEBUG"):
            environment.setdefault(name, "")
        environment = {"LANG": "en_US.UTF-8", "MIRADA_LAB_BROWSER": "0", **environment}
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{prelude}\nfrom mirada.cli import main\nmain()", "lab", *options],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ready(self):
        """What it says until it can be reached, and its host and port."""
        said = ""
        assert self.process.stdout
        assert self.process.stderr
        for line in self.process.stdout:
            said += line
            if found := ADDRESS.search(line):
                return said, found[1].strip("[]"), int(found[2])
        raise AssertionError(f"it never said where it is: {said}{self.process.stderr.read()}")

    def end(self, with_signal):
        self.process.send_signal(with_signal)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err

    def finish(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def ask(host, port, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection(host, port, timeout=20)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_page_answers_and_a_signal_ends_it_quietly_whoever_is_connected(how):
    with Lab("--port", "0", "--lang", "es") as lab:
        said, host, port = lab.ready()
        assert host == "127.0.0.1"
        assert said.startswith("El laboratorio está en http://127.0.0.1:")
        status, page = ask(host, port)
        assert status == 200
        assert "banco" in page

        kept = http.client.HTTPConnection(host, port, timeout=20)
        kept.request("GET", "/")
        kept.getresponse().read()  # answered, and kept open
        silent = socket.create_connection((host, port))  # never says a word
        half = socket.create_connection((host, port))  # stops in the middle of its body
        half.sendall(f"POST /words HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 7\r\n\r\nabc".encode())
        ask(host, port)  # by now the server has seen the three
        code, out, err = lab.end(how)
        for connection in (kept, silent, half):
            connection.close()
        assert (code, out, err) == (0, "", "")


def test_the_page_of_a_run_opens_its_own_api_and_no_other():
    with Lab("--port", "0") as one, Lab("--port", "0") as two:
        (_, host, first), (_, _, second) = one.ready(), two.ready()
        tokens = [token_in(ask(host, port)[1]) for port in (first, second)]
        assert tokens[0] != tokens[1]
        assert ask(host, first, "/api/about", **{"X-Mirada-Token": tokens[0]})[0] == 200
        assert ask(host, first, "/api/about", **{"X-Mirada-Token": tokens[1]})[0] == 401
        assert ask(host, first, "/api/about")[0] == 401
        assert ask(host, first, Host=f"127.0.0.1:{second}")[0] == 421


def test_what_is_no_http_is_refused_in_words_behind_the_same_headers():
    with Lab("--port", "0") as lab:
        _, host, port = lab.ready()
        for sent in (
            "\x16\x03\x01\r\n\r\n",
            f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nHost: {host}:{port}\r\n\r\n",
        ):
            with socket.create_connection((host, port), timeout=20) as connection:
                connection.sendall(sent.encode())
                answer = connection.makefile("rb").read().decode()
            assert answer.startswith("HTTP/1.1 400 ")
            assert "The request is not understood." in answer
            for name, value in HARDENING.items():
                assert f"{name}: {value}".lower() in answer.lower()
        assert lab.end(signal.SIGTERM) == (0, "", "")


def test_a_connection_too_many_is_refused_in_words_and_the_silent_ones_end():
    with Lab("--port", "0", prelude="import mirada.lab.server as s; s.MOST_CONNECTIONS = 3") as lab:
        _, host, port = lab.ready()
        # Nobody says a word on these; that they were accepted shows in the next one's answer.
        silent = [socket.create_connection((host, port), timeout=60) for _ in range(3)]
        with socket.create_connection((host, port), timeout=60) as one_more:
            one_more.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            answer = one_more.makefile("rb").read().decode()
        assert answer.startswith("HTTP/1.1 503 ")
        assert "all the 3 connections" in answer
        assert "las 3 conexiones" in answer
        for name, value in HARDENING.items():
            assert f"{name}: {value}".lower() in answer.lower()
        for connection in silent:
            assert connection.recv(1) == b""  # closed by the lab
            connection.close()
        assert ask(host, port)[0] == 200
        assert lab.end(signal.SIGTERM) == (0, "", "")


def test_nonsense_after_a_refusal_leaves_no_traceback_in_the_terminal():
    with Lab("--port", "0") as lab:
        _, host, port = lab.ready()
        with socket.create_connection((host, port), timeout=20) as connection:
            head = f"POST /api/x HTTP/1.1\r\nHost: {host}:{port}\r\nTransfer-Encoding: chunked\r\n\r\n"
            connection.sendall(head.encode())
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 401 ")  # and its rest is still awaited
            connection.sendall(b"ZZ\r\nno chunk\r\n")
            while connection.recv(1 << 16):
                pass
        assert lab.end(signal.SIGTERM) == (0, "", "")


def test_a_signal_does_not_wait_for_a_computation():
    endless = "import time, mirada.lab.routes as r; r.compute = lambda _: time.sleep(10**6)"
    with Lab("--port", "0", prelude=endless) as lab:
        _, host, port = lab.ready()
        token = token_in(ask(host, port)[1])
        connection = http.client.HTTPConnection(host, port)
        headers = {"X-Mirada-Token": token, "Content-Type": "application/json"}
        connection.request("POST", "/api/scene/weights", "{}", headers)
        ask(host, port)  # by now the server has read it
        assert lab.end(signal.SIGINT) == (0, "", "")
        connection.close()


def token_in(page):
    found = re.search('data-token="([^"]+)"', page)
    assert found
    return found[1]


def taken():
    """A port that another program uses."""
    other = socket.create_server(("127.0.0.1", 0))
    return other, other.getsockname()[1]


def test_a_taken_port_that_was_asked_for_is_an_error_that_says_what_to_do():
    other, port = taken()
    with other:
        for lab in (Lab("--port", str(port)), Lab(MIRADA_LAB_PORT=str(port))):
            with lab:
                code, out, err = lab.finish()
                assert (code, out) == (1, "")
                assert f"Port {port} is used by another program" in err
                assert "--port" in err
                assert "Traceback" not in err


def test_without_a_port_the_next_free_one_is_taken_and_said():
    try:
        other = socket.create_server(("127.0.0.1", DEFAULT_PORT))
    except OSError:
        other = socket.socket()  # somebody else takes it already, which is as good
    with other, Lab() as lab:
        said, host, port = lab.ready()
        assert port > DEFAULT_PORT
        assert f"Port {DEFAULT_PORT} is taken; using {port}." in said
        assert ask(host, port)[0] == 200


def test_the_environment_names_the_port():
    other, port = taken()
    other.close()
    with Lab(MIRADA_LAB_PORT=str(port)) as lab:
        assert lab.ready()[2] == port


def test_another_host_is_opened_only_with_a_warning_in_words():
    with Lab("--host", "0.0.0.0", "--port", "0", "--lang", "es") as lab:
        said, host, port = lab.ready()
        assert said.startswith("Atención: el laboratorio escucha en todas las direcciones")
        assert "sin contraseña" in said
        assert host == "127.0.0.1"
        assert ask(host, port)[0] == 200
        assert ask(host, port, Host=f"evil.example:{port}")[0] == 421
        reached = next((a for a in addresses() if not a.startswith("127.")), None)
        if reached:
            assert ask(reached, port)[0] == 200


def addresses():
    """This machine's own IPv4 addresses, as far as it knows them."""
    try:
        return socket.gethostbyname_ex(socket.gethostname())[2]
    except OSError:
        return []


def test_loopback_is_opened_without_a_warning_and_is_not_reached_from_elsewhere():
    with Lab("--port", "0") as lab:
        said, _, port = lab.ready()
        assert said.count("\n") == 1
        for address in addresses():
            if not address.startswith("127."):
                with pytest.raises(ConnectionRefusedError):
                    ask(address, port)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_loopback():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with Lab("--host", "::1", "--port", "0") as lab:
        said, host, port = lab.ready()
        assert f"http://[::1]:{port}/" in said
        assert said.count("\n") == 1
        assert ask(host, port)[0] == 200
        assert ask(host, port, Origin=f"http://[::1]:{port}")[0] == 200
        assert ask(host, port, Origin=f"http://[::2]:{port}")[0] == 403


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("no.such.host.invalid", "cannot be found"),
        ("203.0.113.7", "Cannot listen at"),
        ("a b", "cannot be found"),
    ],
)
def test_an_address_that_is_not_ours_is_an_error_in_words(host, said):
    with Lab("--host", host, "--port", "0") as lab:
        code, out, err = lab.finish()
        assert (code, out) == (1, "")
        assert said in err
        assert "--host" in err
        assert "Traceback" not in err


@pytest.mark.parametrize("options", [[], ["--no-browser"]])
def test_the_browser_is_opened_when_the_page_can_be_reached(tmp_path, options):
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport sys, urllib.request\n"
        f"page = urllib.request.urlopen(sys.argv[1]).read().decode()\n"
        f"print(sys.argv[1], 'banco' in page, file=open({str(seen)!r}, 'w'))\n"
        f"print('opened', flush=True)\n"
    )
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    with Lab("--port", "0", *options, BROWSER=f"{browser} %s &", MIRADA_LAB_BROWSER="") as lab:
        _, host, port = lab.ready()
        if options:
            code, out, _ = lab.end(signal.SIGTERM)
            assert (code, out) == (0, "")
            assert not seen.exists()
        else:
            assert lab.process.stdout
            # Said by the browser, on the terminal that it shares.
            assert lab.process.stdout.readline() == "opened\n"
            assert seen.read_text() == f"http://{host}:{port}/ True\n"


def test_torch_is_not_needed_to_open_the_page():
    with Lab("--port", "0") as lab:
        _, host, port = lab.ready()
        ask(host, port)
        maps = Path(f"/proc/{lab.process.pid}/maps")
        if not maps.exists():
            pytest.skip("only Linux shows what a process has loaded")
        assert "libtorch" not in maps.read_text()
