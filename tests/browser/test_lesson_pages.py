"""The lesson's site, built without running its code: what it loads, its switch, its search, who reads it."""

import re
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import expect
from test_a11y import expect_accessible

from mirada.lesson.chapters import chapters

ROOT = Path(__file__).parents[2]
PAIR = {"en": "02-dictionary", "es": "02-diccionario"}
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?([^"'\s>]+)"""
    r"""|<link\b[^>]*?\bhref\s*=\s*["']?([^"'\s>]+)|url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "lesson/site/build.py", "--no-run", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def address(site):
    """Where a server gives the site: axe asks for style sheets, which no file on disk is given."""
    handler = partial(Quiet, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_every_chapter_is_a_page_and_a_notebook_in_both_languages(site):
    for language in ("en", "es"):
        for chapter in chapters(language):
            page = (site / language / f"{chapter.name}.html").read_text("utf-8")
            assert f'href="{chapter.name}.ipynb" download' in page
            assert (site / language / f"{chapter.name}.ipynb").is_file()
            assert "{num}" not in page
            assert "<merror" not in page
    assert not (site / "jupyter_execute").exists()


def test_no_page_loads_anything_from_another_host(site):
    """Its scripts, styles and pictures; a link that one may follow is another matter."""
    loaded = {
        (file.relative_to(site), address)
        for file in site.rglob("*")
        if file.suffix in (".html", ".css")
        for found in LOADED.finditer(file.read_text("utf-8"))
        if (address := next(filter(None, found.groups())))
    }
    assert len(loaded) > 50
    assert [each for each in loaded if re.match(r"(?!data:)[a-z]+:|//", each[1])] == []
    assert not any("mathjax" in file.name.lower() for file in site.rglob("*"))


@pytest.mark.parametrize("place", ["en/index", f"en/{PAIR['en']}", f"es/{chapters('es')[0].name}"])
def test_everybody_can_read_a_page(address, open_page, place):
    page = open_page(f"{address}/{place}.html")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            expect_accessible(page, f"{width} px, {scheme}", part="body")


def test_the_switch_goes_to_the_same_heading_of_the_same_chapter(site, open_page):
    page = open_page(f"{(site / 'en').as_uri()}/{PAIR['en']}.html#pencil")
    for name, language in (("Español", "es"), ("English", "en")):
        # Until the page has come to rest there, something else is being read.
        page.wait_for_function("Math.abs(document.getElementById('pencil').getBoundingClientRect().top) < 60")
        page.get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(rf"/{language}/{PAIR[language]}\.html#pencil$"))
    expect(page.get_by_role("heading", name="With a pencil")).to_be_in_viewport()


@pytest.mark.parametrize(("language", "word"), [("en", "pencil"), ("es", "lápiz")])
def test_search_finds_a_word_of_a_chapter(site, open_page, language, word):
    page = open_page(f"{(site / language).as_uri()}/search.html?q={word}")
    expect(page.locator("#search-results a").first).to_be_visible()
    found = page.locator("#search-results a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert any(PAIR[language] in address for address in found)


def test_code_can_be_copied_and_answers_unfolded(site, open_page):
    page = open_page((site / "es" / f"{PAIR['es']}.html").as_uri())
    expect(page.locator("button.copybtn").first).to_be_attached()
    answer = page.get_by_text("La consulta solo ve claves.")
    expect(answer).to_be_hidden()
    page.locator("summary").first.click()
    expect(answer).to_be_visible()


def test_the_activity_stands_in_its_page(site, open_page):
    page = open_page((site / "es" / f"{chapters('es')[0].name}.html").as_uri())
    frame = page.frame_locator(".activity iframe")
    page.locator(".activity").scroll_into_view_if_needed()
    expect(frame.get_by_text("mira sobre todo a").first).to_be_visible()
