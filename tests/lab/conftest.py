"""A lab on a small bundle of its own, reached without a network."""

import asyncio
from functools import partialmethod

import httpx
import pytest

from mirada.lab.app import create_app
from mirada.lab.guard import host_headers
from mirada.lab.jobs import Jobs
from mirada.views import page

TOKEN = "seven-words-look"


class Browser:
    """Asks the application straight away, one request at a time."""

    def __init__(self, app, headers):
        self.app = app
        self.headers = headers

    def request(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app)
            client = httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8642", headers=self.headers
            )
            async with client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    get = partialmethod(request, "GET")
    head = partialmethod(request, "HEAD")
    post = partialmethod(request, "POST")


@pytest.fixture
def static(tmp_path, monkeypatch):
    for name in ("words", "lab", "train", "images"):
        for end, text in {
            "js": "document.title='Mirada'",
            "css": "body{margin:0}",
            "es.html": "<p>banco</p>",
            "en.html": "<p>bank</p>",
        }.items():
            (tmp_path / f"{name}.{end}").write_text(text, "utf-8")
    monkeypatch.setattr(page, "STATIC", tmp_path)
    return tmp_path


@pytest.fixture
def lab(static):
    """Opens the lab as a browser in `language` would, with the token that its page carries."""

    def open_lab(language=None, accept="es", token=TOKEN):
        jobs = Jobs(static / "runs")
        app = create_app(TOKEN, language, hosts=host_headers(8642), jobs=jobs)
        return Browser(app, {"accept-language": accept, "x-mirada-token": token})

    return open_lab
