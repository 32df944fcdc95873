"""Without JavaScript the page still shows whom banco looks at, and everything that the tasks ask for."""

import re

import pytest
from playwright.sync_api import Page, expect
from sight import NARROW, TEXTS, said, vectors, weights

SENTENCES = {
    "es": [
        f"«banco» mira sobre todo a «plata» (61{NARROW}%), luego a sí misma (28{NARROW}%).",
        f"«banco» mira sobre todo a «plaza» (44{NARROW}%), luego a «sentó» (34{NARROW}%).",
    ],
    "en": [
        "“bank” looks chiefly at “money” (61%), then at itself (28%).",
        "“bank” looks chiefly at “river” (44%), then at “sat” (34%).",
    ],
}


@pytest.fixture
def open_still(open_page, exported):
    def open_(language: str = "es", **options) -> Page:
        return open_page(exported(language).as_uri(), java_script_enabled=False, **options)

    return open_


def read(page: Page) -> str:
    """What can be read: what stands in noscript is there too, although it is called invisible."""
    return page.inner_text("body")


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_initial_state_of_banco_is_shown(open_still, language):
    page = open_still(language)
    text = read(page)
    assert said("title", language) in text
    for sentence in SENTENCES[language]:
        assert sentence in text
    gap = NARROW if language == "es" else ""
    picture = page.locator("main svg").first.locator("text").all_text_contents()
    assert [t for t in picture if t.endswith("%")] == [f"{n}{gap}%" for n in (2, 3, 3, 61, 2, 1, 28)]
    words = {
        "es": ["Ana", "guardó", "la", "plata", "en", "el", "banco"],
        "en": ["Ana", "kept", "the", "money", "in", "the", "bank"],
    }
    assert [t for t in picture if not t.endswith("%")] == words[language]
    assert "JavaScript" in text
    for number in {"es": ["2,52", "1,78", "5,94", "9,78"], "en": ["2.52", "1.78", "5.94", "9.78"]}[language]:
        assert number in text


def test_arcs_and_columns_are_drawn_to_measure(open_still):
    page = open_still()
    exact = weights(vectors("money", "query")[6], vectors("money", "key"))
    picture = page.locator("main svg").first
    arcs = picture.locator('g[stroke^="url"] path').evaluate_all(
        """all => all.flatMap(path => path.getAttribute('d').match(/M/g)
            .map(() => parseFloat(getComputedStyle(path).strokeWidth)))"""
    )
    assert sorted(arcs) == pytest.approx(sorted(max(34 * w, 1) for w in exact), abs=0.06)
    columns = picture.locator("path:not([fill])").last.get_attribute("d") or ""
    assert [float(v) for v in re.findall(r"v([\d.]+)", columns)] == pytest.approx(
        [max(62 * w, 1) for w in exact], abs=0.06
    )
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_every_look_stands_in_a_table(open_still):
    page = open_still()
    rows = page.locator("table").last.locator("tr")
    expect(rows).to_have_count(8)
    cells = rows.last.locator("td").all_inner_texts()
    assert cells == [f"{n}{NARROW}%" for n in (2, 3, 3, 61, 2, 1, 28)]


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_cards_can_be_opened_and_answer(open_still, language):
    page = open_still(language)
    for task in range(1, 7):
        card = page.locator("details", has_text=said(f"task.{task}", language))
        if card.get_attribute("open") is None:
            card.locator("summary").click()
        text = card.inner_text()
        for key in [k for k in TEXTS[language] if re.fullmatch(r"answer\.\w+", k)]:
            answer = said(key, language)
            if answer in text:
                break
        else:
            pytest.fail(f"card {task} answers nothing: {text}")


def test_nothing_can_be_pressed_that_needs_a_script(open_still):
    page = open_still()
    assert page.locator("button, input, select").count() == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits(open_still, width):
    page = open_still(viewport={"width": width, "height": 800})
    shot = page.screenshot(full_page=True)
    assert int.from_bytes(shot[16:20], "big") == width  # a wider page would make a wider picture


def test_the_lab_changes_the_language_without_a_script(open_page, lab):
    page = open_page(lab, java_script_enabled=False)
    assert SENTENCES["es"][0] in read(page)
    page.get_by_text("English", exact=True).click()
    page.wait_for_url("**/?lang=en")
    assert SENTENCES["en"][0] in read(page)
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_a_file_offers_no_language_that_it_cannot_show(open_still):
    assert "English" not in read(open_still())
