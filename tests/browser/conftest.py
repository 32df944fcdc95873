"""A real Chromium, a real lab, a real exported file. Every page is watched: an error on its console, or a
request to anybody but its own server, fails the test that opened it.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright
from sight import Sight

MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
expect.set_options(timeout=15_000)
MIRADA = [sys.executable, "-m", "mirada.cli"]
LOCALES = {"es": "es-ES", "en": "en-US"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def find_chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", MAC_CHROME)
    found = os.environ.get("MIRADA_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert found, "no Chromium or Chrome was found: run tools/setup-chromium, which installs it or says how"
    return found


@pytest.fixture(scope="module")  # playwright keeps an event loop running: no later test could start its own
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
        )
        yield browser
        browser.close()


@contextmanager
def serve(*options: str) -> Iterator[str]:
    """A lab with these options in a process of its own: its address, without a slash at its end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*MIRADA, "lab", "--no-browser", "--port", str(port), *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(address, timeout=2).close()
                break
            except (urllib.error.URLError, ConnectionError):
                if server.poll() is not None:
                    pytest.fail(f"the lab did not start: {server.stderr.read() if server.stderr else ''}")
                time.sleep(0.1)
        else:
            pytest.fail("the lab did not answer within 30 seconds")
        yield address
    finally:
        server.terminate()
        server.communicate(timeout=10)


@pytest.fixture(scope="session")
def lab() -> Iterator[str]:
    """The address of a lab that was started as one starts it."""
    with serve() as address:
        yield address


@pytest.fixture
def start_lab() -> Iterator[Callable[..., str]]:
    """Starts a lab with options of its own and says its address."""
    with ExitStack() as started:
        yield lambda *options: started.enter_context(serve(*options))


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The exported file in a language, as `mirada export words` writes it."""
    folder = tmp_path_factory.mktemp("exported")

    def export(language: str) -> Path:
        file = folder / f"words.{language}.html"
        if not file.exists():
            command = [*MIRADA, "export", "words", "--lang", language, "--output", str(file)]
            subprocess.run(command, check=True, capture_output=True)
        return file

    return export


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a context of its own; keyword arguments are those of a playwright context, and
    forgive: a pattern of the one kind of fault that a test brings about itself.
    """
    contexts, faults = [], []

    def watch(page: Page, address: str, forgive: str | None) -> None:
        home = "/".join(address.split("/")[:3])  # scheme and host; every file:// is at home

        def note(fault: str) -> None:
            if not (forgive and re.search(forgive, fault)):
                faults.append(fault)

        def request(sent: Request) -> None:
            if not sent.url.startswith((home, "data:", "blob:")):
                note(f"{sent.method} {sent.url} leaves the page")

        page.on("request", request)
        page.on("pageerror", lambda error: note(f"error: {error}"))
        page.on("console", lambda said: note(f"console: {said.text}") if said.type == "error" else None)

    def open_(address: str, forgive: str | None = None, **options) -> Page:
        # What moves would have to be waited for; the one test that watches it move asks for it.
        usual = {
            "locale": "es-ES",
            "viewport": {"width": 1280, "height": 900},
            "reduced_motion": "reduce",
        }
        context = chromium.new_context(**{**usual, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)  # a bound for a slow machine, not a wait
        watch(page, address, forgive)
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)


@pytest.fixture
def open_words(open_page, exported) -> Callable[..., Sight]:
    """Opens the exported file: in a language, at a state (the part of a link after #)."""

    def open_(language: str = "es", state: str = "", **options) -> Sight:
        address = exported(language).as_uri() + (state and "#" + state)
        return Sight(open_page(address, **{"locale": LOCALES[language], **options}), language)

    return open_
