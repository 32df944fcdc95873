"""The Train page in a real Chromium, on a real lab that trains real models."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from test_a11y import expect_accessible, expect_all_within_reach
from train_page import NARROW, RUN, Train, lab_of

import mirada


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """A folder with a run from the command line, so to say."""
    runs = tmp_path_factory.mktemp("runs")
    mirada.train("reverse", out=runs / "hecho", snapshots_every=10, validate_every=20)
    return runs


@pytest.fixture(scope="module")
def lab(runs) -> Iterator[str]:
    with lab_of(runs) as address:
        yield address


@pytest.fixture
def open_train(open_page, lab) -> Callable[..., Train]:
    def open_(language: str = "es", run: str = "", **options) -> Train:
        return Train(open_page(f"{lab}/train?lang={language}" + (run and "#" + run), **options))

    return open_


def test_a_whole_run_to_100_per_cent_and_a_question_of_ones_own(open_train):
    train = open_train()
    train.start()
    expect(train.moments.first).to_have_accessible_name("paso 0: ver sus mapas", timeout=RUN)
    train.state(f"terminado, 100,0{NARROW}% acertadas")
    expect(train.moments).to_have_count(8)
    expect(train.moments.last).to_have_attribute("aria-pressed", "true")
    train.says("Al final, paso 313")
    train.says("Un transformer de 13\u202f674 números")
    for head in (1, 2):
        large = train.page.get_by_role("img", name=f"Mapa de la cabeza {head}")
        expect(large).to_have_accessible_name(re.compile(r"La fila 1 mira más a la columna 6, 9\d"))
    train.says(f"sin posiciones, de media no pasa de 31,7{NARROW}%")
    # The first answer comes by itself.
    train.says(re.compile(r"La posición 1 mira a la 6 \(\d+\u202f%\), se lleva su 4 y lo escribe\."))
    train.ask.fill("12345670")
    train.ask.press("Enter")
    expect(train.page.locator(".out-row > span:not(.beside)")).to_have_text(list("07654321"), timeout=RUN)
    train.says("Todo bien.")
    train.page.get_by_role("radio", name="posición 3: 4").press("Space")
    train.says(re.compile(r"La posición 3 mira a la 4 \(\d+\u202f%\), se lleva su 5 y lo escribe\."))
    assert train.page.locator(".arches path").count() == 8


def test_what_cannot_be_read_comes_back_as_the_labs_own_sentence(open_train):
    train = open_train(run="hecho", forgive="status of 422")
    train.says("lo escribe.")
    train.ask.fill("12")
    train.button("Responder").click()
    expect(train.alert).to_contain_text("8", timeout=RUN)
    expect(train.ask).to_have_attribute("aria-invalid", "true")
    train.ask.fill("123")
    expect(train.alert).to_have_count(0)


def test_temperature_and_mask_change_the_drawing_and_nothing_else(open_train):
    train = open_train(run="hecho")
    train.says("lo escribe.")
    shown = train.page.locator(".shown")
    sharp = shown.locator(".bar .most").inner_text()
    shown.get_by_role("slider").press("End")
    expect(shown.locator(".bar .most")).not_to_have_text(sharp)
    out = shown.locator(".out-row > span:not(.beside)").all_inner_texts()
    shown.get_by_role("switch").press("Space")
    expect(shown.locator(".bar .hatch")).to_have_count(6)
    assert shown.locator(".out-row > span:not(.beside)").all_inner_texts() == out
    shown.get_by_role("button", name="Volver al principio").click()
    expect(shown.locator(".bar .most")).to_have_text(sharp)
    expect(shown.locator(".bar .hatch")).to_have_count(0)


def test_back_through_the_history_with_keys_and_with_a_click(open_train):
    train = open_train(run="hecho")
    train.says("Al final, paso 313")
    train.history.press("ArrowLeft")
    train.says("Paso 310")
    train.history.press("ArrowLeft")
    train.says("Paso 300")
    train.history.press("ArrowRight")
    train.says("Paso 310")
    train.history.press("Home")
    expect(train.page.get_by_role("heading", name="Paso 0", exact=True)).to_be_visible()
    expect(train.history).to_have_attribute("aria-valuetext", "paso 0 de 313")
    train.moments.nth(3).click()
    expect(train.moments.nth(3)).to_have_attribute("aria-pressed", "true")
    train.button("A lo último").click()
    train.says("Al final, paso 313")


def test_pause_go_on_and_cancel(open_train):
    train = open_train(run="hecho")
    train.start(épocas="12")
    train.state(re.compile(r"aprende, paso [1-9]\d* de 3756"))
    train.button("Pausa").click()
    train.state(re.compile(r"en pausa en el paso \d+ de 3756"))
    paused = int(re.findall(r"paso (\d+)", train.main.locator(".which").inner_text())[0])
    train.button("Continuar").click()
    train.state(re.compile("aprende"))
    train.page.wait_for_function(
        "paused => +document.querySelector('.which').textContent.match(/paso (\\d+)/)[1] > paused",
        arg=paused,
        timeout=RUN,
    )
    train.button("Cancelar").click()
    train.state(re.compile(r"cancelado en el paso \d+ de 3756"))


def test_a_reload_in_the_middle_and_a_second_viewer(open_train, lab):
    train = open_train(run="hecho")
    train.start(épocas="12")
    train.state(re.compile(r"aprende, paso [1-9]\d* de 3756"))
    expect(train.moments.nth(1)).to_be_visible(timeout=RUN)
    url = train.page.url
    train.page.reload()
    assert train.page.url == url
    train.state(re.compile(r"aprende, paso [1-9]\d* de 3756"))
    expect(train.moments.nth(1)).to_be_visible()
    other = open_train(run=url.split("#")[1])
    other.state(re.compile("aprende"))
    train.button("Pausa").click()
    other.state(re.compile("en pausa"))
    other.button("Continuar").click()
    train.state(re.compile("aprende"))
    other.button("Cancelar").click()
    for page in (train, other):
        page.state(re.compile("cancelado"))
    steps = [page.main.locator(".which").inner_text() for page in (train, other)]
    assert steps[0] == steps[1]


def test_without_positions_a_third_and_why(open_train):
    train = open_train(run="hecho")
    train.button("un tercio").click()
    train.switch("Posiciones").press("Space")
    train.start()
    train.state(re.compile(rf"terminado, (29|3[0-4]),\d{NARROW}% acertadas"))
    train.says("Eso es. 3")
    train.says(f"de media, el 31,7{NARROW}% de las veces")
    expect(train.main.get_by_role("link", name="Ver ese entrenamiento")).to_be_visible()
    train.says("sin posiciones")


def test_english(open_train):
    train = open_train("en", "hecho", locale="en-US")
    train.state("finished, 100.0% right")
    train.says("At the end, step 313")
    train.says(re.compile(r"Position 1 looks at 6 \(\d+%\), takes its 4 and writes it\."))
    expect(train.page).to_have_title("How does it learn to look? · Mirada")
    train.page.get_by_text("Español", exact=True).click()
    train.says("Al final, paso 313")
    expect(train.page.locator("html")).to_have_attribute("lang", "es")


def test_the_status_is_empty_at_first_and_speaks_sparingly(open_train):
    train = open_train(run="hecho")
    status = train.page.get_by_role("status")
    expect(status).to_be_empty()
    train.page.evaluate(
        """() => {
            const status = document.querySelector('[role=status]');
            window.heard = [];
            new MutationObserver(() => heard.push(status.textContent))
                .observe(status, {childList: true, characterData: true, subtree: true});
        }"""
    )
    train.start()
    expect(status).to_have_text(f"Terminado: 100,0{NARROW}% de las cifras acertadas.", timeout=RUN)
    assert len(train.page.evaluate("heard")) <= 4


@pytest.mark.parametrize("language", ["es", "en"])
def test_without_javascript_it_says_so_and_shows_a_finished_run(open_page, lab, language):
    page = open_page(f"{lab}/train?lang={language}", java_script_enabled=False)
    text = page.inner_text("body")
    said = {"es": "Para entrenar hace falta JavaScript", "en": "Training needs JavaScript"}
    assert said[language] in text
    assert {"es": "En el paso 313", "en": "At step 313"}[language] in text
    assert page.locator("svg.tiny").count() == 12
    shade = "e => getComputedStyle(e).fill"
    assert page.locator("svg.tiny").last.locator("path").first.evaluate(shade) != "none"
    assert page.locator("button, input, select").count() == 0
    page.get_by_text({"es": "Words", "en": "Palabras"}[{"es": "en", "en": "es"}[language]]).click()
    page.wait_for_url(f"**/words?lang={language}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_train, scheme):
    train = open_train(run="hecho", color_scheme=scheme)
    train.says("lo escribe.")
    for summary in train.page.locator("details.more > summary").all():
        summary.click()
    train.button("la mitad").click()
    train.history.press("ArrowLeft")
    for width in (1280, 768, 390):
        train.page.set_viewport_size({"width": width, "height": 900})
        expect_accessible(train.page, f"{width} px, {scheme}")


@pytest.mark.parametrize("language", ["es", "en"])
def test_no_width_makes_the_page_scroll_sideways(open_train, language):
    train = open_train(language, "hecho")
    train.says(re.compile(r"lo escribe\.|writes it\."))
    for width in (360, 390, 480, 599, 600, 768, 1119, 1120, 1280, 1920, 2560):
        train.page.set_viewport_size({"width": width, "height": 900})
        train.page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_finger_finds_what_it_aims_at_on_a_phone(open_train):
    train = open_train(run="hecho", viewport={"width": 390, "height": 844}, has_touch=True)
    train.says("lo escribe.")
    expect(train.moments).to_have_count(4)
    small = train.page.evaluate(
        """() => [...document.querySelectorAll(
                'button, select, summary, .ask input, .swi, .choices label, .runs a')]
            .filter(e => e.checkVisibility() && !e.closest('header'))
            .filter(e => { const b = e.getBoundingClientRect(); return Math.min(b.width, b.height) < 44; })
            .map(e => e.outerHTML.slice(0, 90))"""
    )
    assert small == []


def test_keys_alone_reach_everything_and_train(open_train):
    train = open_train(run="hecho")
    train.says("lo escribe.")
    page = train.page
    expect_all_within_reach(page)
    train.button("Entrenar otro").focus()
    page.keyboard.press("Enter")
    train.state(re.compile("aprende|terminado, 100"))
    page.wait_for_function("() => location.hash !== '#hecho'")
    train.state("terminado")


def test_the_numbers_of_the_curves_stand_in_a_table(open_train):
    train = open_train(run="hecho")
    train.page.get_by_text("Los mismos números en una tabla").click()
    rows = train.page.get_by_role("region", name="Los mismos números en una tabla").get_by_role("row")
    expect(rows).to_have_count(33)  # a head, every tenth of 313 steps, and the last
    expect(rows.last).to_contain_text(f"100,0{NARROW}%")
