"""Several pages in one document, as in a notebook: each has ids, names and a state of its own."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sight import Sight

import mirada
from mirada.views.page import STATIC
from mirada.views.words import start

# What anywidget and a kernel do for a widget, in a few lines.
NOTEBOOK = """async ({code, style, cells, shadow}) => {
    const script = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
    const {default: {render}} = await import(script);
    window.cells = cells.map(traits => {
        const place = document.body.appendChild(document.createElement("article"));
        const root = shadow ? place.attachShadow({mode: "open"}) : place;
        if (style) root.appendChild(document.createElement("style")).textContent = style;
        const el = root.appendChild(document.createElement("div"));
        const heard = {};
        const model = {
            saved: 0,
            get: name => traits[name],
            set(name, value) { traits[name] = value; heard["change:" + name]?.forEach(job => job()); },
            save_changes() { this.saved++; },
            on: (event, job) => (heard[event] ??= new Set()).add(job),
            off: (event, job) => heard[event]?.delete(job),
            listeners: () => Object.values(heard).reduce((n, jobs) => n + jobs.size, 0),
        };
        return {el, traits, model, end: render({model, el})};
    });
}"""


def cell(sentence: str, language: str) -> dict:
    return {"state": start(sentence, language).to_dict(), "language": language}  # pyright: ignore[reportArgumentType]


@pytest.fixture
def notebook(open_page):
    def open_(*cells: dict, shadow: bool = False) -> Page:
        page = open_page("about:blank", viewport={"width": 900, "height": 900})
        code, style = ((STATIC / name).read_text("utf-8") for name in ("widget.js", "words.css"))
        page.evaluate(NOTEBOOK, {"code": code, "style": style, "cells": list(cells), "shadow": shadow})
        return page

    return open_


def words_of(page: Page, nth: int, language: str = "es"):
    """The picture of one of the cells."""
    return page.get_by_role("article").nth(nth).get_by_role("group", name=Sight(page, language).said("words"))


def state_of(page: Page, nth: int) -> dict:
    return page.evaluate("nth => cells[nth].traits.state", nth)


def test_each_has_ids_of_its_own(notebook):
    page = notebook(cell("money", "es"), cell("money", "es"), cell("seat", "en"))
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) > 30
    assert len(ids) == len(set(ids))
    # Whatever points to an id points into its own cell.
    lost = page.evaluate(
        """() => cells.flatMap(({el}) => [...el.querySelectorAll('*')]
            .flatMap(e => ['for', 'aria-labelledby', 'aria-describedby', 'stroke']
                .map(a => e.getAttribute(a)))
            .filter(v => v && (v.includes('#') || v.startsWith('mirada')))
            .map(v => v.replace(/^url\\(#|\\)$/g, ''))
            .filter(v => !el.querySelector('#' + CSS.escape(v))))"""
    )
    assert lost == []


def test_each_has_a_state_of_its_own(notebook):
    page = notebook(cell("money", "es"), cell("money", "es"))
    first, second = words_of(page, 0), words_of(page, 1)
    first.get_by_role("radio", name="la", exact=True).press("Space")
    expect(first.get_by_role("radio", name="la", exact=True)).to_be_checked()
    expect(second.get_by_role("radio", name="banco", exact=True)).to_be_checked()
    assert (state_of(page, 0)["chosen"], state_of(page, 1)["chosen"]) == (2, 6)
    assert page.evaluate("cells.map(c => c.model.saved)") == [1, 0]
    expect(second.get_by_role("button").nth(3)).to_have_accessible_name("61 % a plata: ver de dónde sale")


def test_what_the_kernel_sets_is_drawn_and_not_sent_back(notebook):
    page = notebook(cell("money", "es"), cell("seat", "en"))
    page.evaluate(
        "() => { const c = cells[0]; c.model.set('state', {...c.traits.state, chosen: 0, causal: true}); }"
    )
    expect(words_of(page, 0).get_by_role("button", disabled=True)).to_have_count(6)
    expect(words_of(page, 1, "en").get_by_role("button", disabled=True)).to_have_count(0)
    assert page.evaluate("cells.map(c => c.model.saved)") == [0, 0]


def test_a_switch_of_language_reaches_the_kernel(notebook):
    page = notebook(cell("money", "es"), cell("money", "es"))
    page.get_by_role("link", name="English").first.click()
    expect(words_of(page, 0, "en").get_by_role("radio", name="bank", exact=True)).to_be_checked()
    assert page.evaluate("cells.map(c => c.traits.language)") == ["en", "es"]
    assert state_of(page, 0)["words"][3] == "money"
    assert state_of(page, 1)["words"][3] == "plata"


def test_the_notebook_stays_as_it_was(notebook):
    page = notebook(cell("money", "es"))
    page.evaluate("document.title = 'My notebook'")
    words_of(page, 0).get_by_role("radio", name="la", exact=True).press("Space")
    expect(page.get_by_role("status")).to_contain_text("«la» mira")
    assert page.title() == "My notebook"
    assert page.url == "about:blank"
    assert page.evaluate("[document.documentElement.lang, getComputedStyle(document.body).margin]") == [
        "",
        "8px",
    ]
    assert page.get_by_role("main").count() == 0  # the notebook has its own
    page.evaluate("cells[0].end()")
    assert page.evaluate(
        "[cells[0].el.textContent, cells[0].model.listeners(), document.adoptedStyleSheets.length]"
    ) == ["", 0, 0]


def test_it_works_inside_a_shadow_root(notebook):
    """As in marimo."""
    page = notebook(cell("money", "es"), shadow=True)
    words = page.get_by_role("group", name="Qué palabra mira")
    words.get_by_role("radio", name="la", exact=True).press("Space")
    expect(words.get_by_role("button").nth(3)).to_have_accessible_name("60 % a plata: ver de dónde sale")
    handle = page.get_by_role("group", name="Consulta de la", exact=True)
    box = handle.bounding_box()
    assert box
    assert box["width"] == 44  # the style that comes with the script is there too
    page.get_by_text("Más:").click()
    for kind in ("Dibujo, SVG", "Números, CSV"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind).click()
        assert download.value.path().stat().st_size > 1000


def test_two_pages_of_one_script(open_page):
    """The page itself, twice in a document that somebody else wrote."""
    page = open_page("about:blank", viewport={"width": 900, "height": 900})
    page.set_content('<div data-mirada="words" data-language="es"></div><div data-mirada="words"></div>')
    page.evaluate((STATIC / "words.js").read_text("utf-8"))
    expect(page.get_by_role("radio", name="banco", exact=True)).to_have_count(2)
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.get_by_role("radio", name="la", exact=True).first.press("Space")
    expect(page.get_by_role("radio", name="banco", exact=True).first).not_to_be_checked()
    expect(page.get_by_role("radio", name="banco", exact=True).last).to_be_checked()


def test_the_fallback_of_a_saved_notebook_shows_its_own_state(open_page, tmp_path: Path):
    widget = mirada.Words("money", "es")
    widget.chosen = 2
    widget.query[2] = (1, 2)
    data, _ = widget._repr_mimebundle_()
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><title>n</title>{data['text/html']}", "utf-8")
    page = open_page(file.as_uri())
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("radio", name="la", exact=True)).to_be_checked()
    expect(frame.get_by_role("slider", name="Consulta de la, horizontal")).to_have_value("1")
    frame.get_by_role("radio", name="banco", exact=True).press("Space")
    expect(frame.get_by_text(re.compile("«banco» mira")).first).to_be_visible()
