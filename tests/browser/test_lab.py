"""The page as the lab serves it: checked with the library, handed out as a file, calm when things fail."""

import json
import re

import pytest
from playwright.sync_api import expect
from sight import Sight, said


@pytest.fixture
def open_lab(open_page, lab):
    def open_(language: str = "es", forgive: str | None = None) -> Sight:
        sight = Sight(open_page(f"{lab}/?lang={language}", forgive=forgive), language)
        sight.open_more()
        return sight

    return open_


def check(sight: Sight) -> None:
    sight.page.get_by_role("button", name=sight.said("lab.check")).click()


def expect_same(sight: Sight) -> None:
    """The largest difference is shown, and is no larger than rounding."""
    before, after = sight.said("lab.same").split("{d}")
    said = sight.main.get_by_text(before)
    expect(said).to_be_visible(timeout=30_000)  # the first time, the lab imports torch
    shown = (said.text_content() or "").removeprefix(before).removesuffix(after)
    digits = re.fullmatch(r"(0[.,]00)|(\d[.,]\d)·10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", shown)
    assert digits, shown
    if digits[3]:
        assert int(digits[3].translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))) >= 15


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_library_computes_the_same(open_lab, language):
    sight = open_lab(language)
    check(sight)
    expect_same(sight)


def test_the_library_computes_the_same_whatever_was_done(open_lab):
    sight = open_lab()
    sight.look_at("una frase con masca y tempera")
    sight.causal.press("Space")
    sight.temperature.press("Home")
    sight.set("query", "tempera", -2.5, 2.5)
    with sight.page.expect_request("**/api/scene/weights**") as sent:
        check(sight)
    scene = json.loads(sent.value.post_data or "")
    assert (scene["temperature"], scene["masks"], scene["query"][5]) == (
        0.1,
        [{"kind": "causal"}],
        [-2.5, 2.5],
    )
    expect_same(sight)


def test_a_wrong_number_of_the_library_would_be_seen(open_lab, open_page):
    sight = open_lab()

    def spoil(route):
        answer = route.fetch()
        result = answer.json()
        result["weights"][3][2] += 0.25
        route.fulfill(response=answer, json=result)

    sight.page.route("**/api/scene/weights**", spoil)
    check(sight)
    sight.says(sight.said("lab.same", d="0,25"))


@pytest.mark.parametrize("language", ["es", "en"])
def test_a_refusal_is_a_sentence_in_the_language_of_the_page(open_lab, language):
    """As when the lab was started again: the page still has the token of the one before."""
    sight = open_lab(language, forgive="status of 40[13]")
    sight.page.route(
        "**/api/**",
        lambda route: route.continue_(headers={**route.request.headers, "x-mirada-token": "of another run"}),
    )
    check(sight)
    sight.says({"es": "Recarga la página.", "en": "Reload the page."}[language])


@pytest.mark.parametrize("language", ["es", "en"])
def test_a_silent_lab_is_a_sentence_too(open_lab, language):
    sight = open_lab(language, forgive="net::ERR")
    sight.page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    check(sight)
    sight.says(sight.said("lab.silent"))


def test_an_answer_that_is_no_json_is_a_sentence_too(open_lab):
    sight = open_lab(forgive="status of 500")
    sight.page.route("**/api/**", lambda route: route.fulfill(status=500, body="<h1>proxy</h1>"))
    check(sight)
    sight.says(sight.said("lab.silent"))


@pytest.mark.parametrize(("language", "name"), [("es", "palabras.html"), ("en", "words.html")])
def test_the_page_is_handed_out_as_one_file(open_lab, open_page, exported, tmp_path, language, name):
    sight = open_lab(language)
    with sight.page.expect_download() as download:
        sight.page.get_by_role("link", name=sight.said("export.page")).click()
    assert download.value.suggested_filename == name
    file = tmp_path / name
    download.value.save_as(file)
    assert file.read_bytes() == exported(language).read_bytes()
    Sight(open_page(file.as_uri()), language).says("61")


def test_a_file_offers_no_library_and_no_download_of_itself(open_words):
    sight = open_words()
    sight.open_more()
    expect(sight.page.get_by_role("button", name=sight.said("lab.check"))).to_have_count(0)
    expect(sight.page.get_by_role("link", name=sight.said("export.page"))).to_have_count(0)


@pytest.mark.parametrize(("path", "here"), [("", 0), ("/words", 0), ("/train", 1), ("/images", 2)])
def test_the_navigation_shows_the_pages_there_are(open_page, lab, path, here):
    page = open_page(lab + path)
    links = page.get_by_role("navigation").locator("a")
    expect(links).to_have_text(["Palabras", "Entrenar", "Imágenes"])
    expect(links.nth(here)).to_have_attribute("aria-current", "page")
    there = (here + 1) % 3
    links.nth(there).click()
    titles = ["¿A quién mira cada palabra?", "¿Cómo aprende a mirar?", "¿A dónde mira cada parche?"]
    expect(page.get_by_role("heading", level=1)).to_have_text(titles[there])


def test_a_file_knows_of_no_other_page(open_words):
    links = open_words().page.get_by_role("navigation").locator("a")
    expect(links).to_have_text([said("page")])
    expect(links).to_have_attribute("aria-current", "page")


def test_the_address_of_the_page_stays_when_other_pages_come(open_page, lab):
    Sight(open_page(lab + "/words")).says("«banco» mira sobre todo a «plata» (61 %)")


def test_the_night_is_remembered(open_page, lab):
    page = open_page(lab)
    paper = "getComputedStyle(document.querySelector('main').closest('[lang]')).backgroundColor"
    day = page.evaluate(paper)
    page.get_by_role("button", name=said("night")).click()
    expect(page.get_by_role("button", name=said("day"))).to_be_visible()
    night = page.evaluate(paper)
    assert day != night
    page.reload()
    expect(page.get_by_role("button", name=said("day"))).to_be_visible()
    assert page.evaluate(paper) == night
    page.get_by_role("button", name=said("day")).click()
    expect(page.get_by_role("button", name=said("night"))).to_be_visible()
    assert page.evaluate(paper) == day


@pytest.mark.parametrize(("scheme", "button"), [("light", "night"), ("dark", "day")])
def test_without_a_choice_the_page_follows_the_system(open_page, lab, scheme, button):
    page = open_page(lab, color_scheme=scheme)
    expect(page.get_by_role("button", name=said(button))).to_be_visible()


def test_a_page_that_does_not_exist_is_a_sentence_with_a_way_back(open_page, lab):
    page = open_page(lab + "/nada", forgive="status of 404")
    expect(page.get_by_text("Esta página no existe.")).to_be_visible()
    page.get_by_role("link", name="Mirada").click()
    Sight(page).says("«banco» mira sobre todo a «plata» (61 %)")
