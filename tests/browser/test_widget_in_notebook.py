"""The widget as JupyterLab shows it: one script for each widget, a place that is not in the document yet."""

import pytest
from playwright.sync_api import Page, expect

from mirada.views.page import STATIC
from mirada.views.words import start

# anywidget loads the script once for each widget, and JupyterLab asks for the view before it shows it.
NOTEBOOK = """async ({code, style, state, places}) => {
    document.head.appendChild(document.createElement("style")).textContent = style;
    window.cells = [];
    for (let i = 0; i < places; i++) {
        const url = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
        const {default: {render}} = await import(url);
        const traits = {state, language: "es"};
        const set = (name, value) => { traits[name] = value; };
        const model = {get: name => traits[name], set, save_changes() {}, on() {}, off() {}};
        const el = document.createElement("section");
        cells.push({el, traits, end: render({model, el})});
    }
}"""

# What JupyterLab 4 does with each key that is pressed in a cell.
JUPYTERLAB = """document.addEventListener("keydown", ({target}) => {
    const forbid = e => e.inputType === "insertLineBreak" && target.closest(".jp-Cell") && e.preventDefault();
    target.addEventListener("beforeinput", forbid, {once: true});
}, true)"""


@pytest.fixture
def notebook(open_page):
    def open_(places: int, **options) -> Page:
        page = open_page("about:blank", viewport={"width": 900, "height": 900}, **options)
        code, style = ((STATIC / name).read_text("utf-8") for name in ("widget.js", "words.css"))
        state = start("money", "es").to_dict()
        page.evaluate(NOTEBOOK, {"code": code, "style": style, "state": state, "places": places})
        return page

    return open_


def show(page: Page) -> None:
    page.evaluate("cells.forEach(({el}) => document.body.append(el))")


def test_it_opens_when_its_place_enters_the_document(notebook):
    page = notebook(1)
    page.evaluate("cells[0].traits.state = {...cells[0].traits.state, chosen: 2}")  # set meanwhile by Python
    show(page)
    expect(page.get_by_role("radio", name="la", exact=True)).to_be_checked()
    handle = page.get_by_role("group", name="Consulta de la", exact=True)
    expect(handle).to_have_css("width", "44px")  # the style of what is alive is there too


def test_what_is_closed_before_it_is_shown_never_opens(notebook):
    page = notebook(2)
    page.evaluate("cells[0].end()")
    show(page)
    expect(page.get_by_role("radio", name="banco", exact=True)).to_have_count(1)


def test_a_script_for_each_widget_is_still_an_id_for_each(notebook):
    page = notebook(2)
    show(page)
    expect(page.get_by_role("radio", name="banco", exact=True)).to_have_count(2)
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))
    page.get_by_role("radio", name="la", exact=True).first.press("Space")
    expect(page.get_by_role("radio", name="banco", exact=True).last).to_be_checked()


def test_it_follows_the_notebook_into_the_night(notebook):
    page = notebook(1, color_scheme="light")
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    show(page)
    picture = page.locator(".mirada")
    expect(picture).to_have_css("background-color", "rgb(252, 250, 245)")
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    expect(picture).to_have_css("background-color", "rgb(23, 20, 17)")
    expect(picture).to_have_count(1)


def test_the_enter_key_sends_ones_own_sentence(notebook):
    # Met in public: https://github.com/jupyter-widgets/ipywidgets/issues/3950
    page = notebook(1)
    page.evaluate(JUPYTERLAB)
    page.evaluate("cells[0].el.className = 'jp-Cell'")
    show(page)
    page.get_by_text("Más: tu propia frase").click()
    field = page.get_by_label("Tu propia frase")
    field.press_sequentially("el que calla otorga")
    field.press("Enter")
    expect(page.get_by_role("radio", name="otorga", exact=True)).to_have_count(1)
    assert page.evaluate("cells[0].traits.state.words") == ["el", "que", "calla", "otorga"]
