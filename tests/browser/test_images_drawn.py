"""Digits on the Images page in a real Chromium: drawn, inked by keys, learnt on the first use."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from images_page import PATIENCE, Images
from playwright.sync_api import expect
from test_a11y import expect_accessible, expect_all_within_reach

import mirada
from conftest import serve
from mirada.training.tasks_images import Digits


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """A folder where digits were learnt already, if not for long."""
    runs = tmp_path_factory.mktemp("runs")
    mirada.train("digits", out=runs / "digits", epochs=7, d_model=32, lr=4e-3, warmup=20)
    return runs


@pytest.fixture(scope="module")
def lab(runs) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "MIRADA_RUNS", str(runs))
        patch.setitem(os.environ, "OMP_NUM_THREADS", "1")
        with serve() as address:
            yield address


@pytest.fixture
def open_images(open_page, lab) -> Callable[..., Images]:
    def open_(language: str = "es", state: str = "", **options) -> Images:
        return Images(open_page(f"{lab}/images?lang={language}" + (state and "#" + state), **options))

    return open_


def test_a_digit_that_is_drawn_is_read_while_it_is_drawn(open_images):
    images = open_images(state="s=digit")
    expect(images.chances).to_have_count(10, timeout=PATIENCE)
    images.says("Parece un 3")
    images.says(f"aprendió con {Digits.train_size} cifras")
    expect(images.patches.get_by_role("radio")).to_have_count(17)
    ring = [(0.5 + 0.23 * np.sin(t), 0.5 - 0.36 * np.cos(t)) for t in np.linspace(0, 2 * np.pi, 25)]
    images.draw(ring)
    images.says("Parece un 0")
    expect(images.page.locator(".columns .most")).to_contain_text("0")
    expect(images.page).to_have_url(re.compile("s=digit&d=[0-9a-g]{64}$"))
    before = images.page.locator(".columns").inner_text()
    images.page.reload()
    expect(images.page.locator(".columns")).to_have_text(re.compile("0"), timeout=PATIENCE)
    images.says("Parece un 0")
    assert images.page.locator(".columns").inner_text() == before
    images.page.get_by_role("button", name="Borrar").click()
    images.says("Dibuja una cifra y dirá cuál es.")


def test_the_last_stroke_wins_however_slow_the_lab_is(open_images):
    images = open_images(state="s=digit")
    expect(images.chances).to_have_count(10, timeout=PATIENCE)
    asked, held = [], []

    def slow(route):
        asked.append(json.loads(route.request.post_data or ""))
        if len(asked) == 1:
            held.append(route)  # the first answer is long in coming
        else:
            route.continue_()

    images.page.route("**/api/images/digit**", slow)
    images.draw([(0.5, 0.1), (0.5, 0.5), (0.5, 0.9)])
    link = re.compile("d=([0-9a-g]{64})$")
    expect(images.page).to_have_url(link)
    drawn = link.search(images.page.url)
    assert drawn
    cells = [int(c, 17) for c in drawn[1]]
    images.page.wait_for_timeout(300)
    assert len(asked) == 1  # while one answer is awaited, no other is asked for
    held[0].continue_()
    for _ in range(100):  # until the lab has been asked for what is there now, and for nothing after it
        if asked and asked[-1]["cells"] == cells:
            break
        images.page.wait_for_timeout(100)
    images.page.wait_for_timeout(300)
    assert [each["cells"] for each in asked[1:]] == [cells]


def test_a_digit_can_be_inked_by_keys_alone(open_images):
    images = open_images(state="s=digit")
    expect(images.chances).to_have_count(10, timeout=PATIENCE)
    images.page.get_by_role("button", name="Borrar").click()
    first = images.page.get_by_role("button", name="fila 0, columna 0", exact=True)
    first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowUp"):
        images.page.keyboard.press(key)
    for _ in range(8):
        images.page.keyboard.press("Space")
        images.page.keyboard.press("ArrowDown")
    expect(images.page.get_by_role("button", name="fila 7, columna 3", exact=True)).to_be_focused()
    expect(images.page.locator(".grid-of [aria-pressed=true]")).to_have_count(8)
    expect(images.page).to_have_url(re.compile("d=(000g0000){8}$"))
    images.page.keyboard.press("Space")
    expect(images.page.locator(".grid-of [aria-pressed=true]")).to_have_count(7)


def test_it_learns_on_its_first_use_with_a_bar_that_survives_a_reload(open_page, tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "MIRADA_RUNS", str(tmp_path))
    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    with serve() as address:
        images = Images(open_page(f"{address}/images?lang=es#s=digit"))
        images.says("Primero tiene que aprender")
        images.page.get_by_role("button", name="Entrenarlo ahora").click()
        bar = images.page.get_by_role("progressbar", name="Cuánto ha aprendido")
        expect(bar).to_be_visible()
        images.says(re.compile(r"Paso [1-9]\d* de 1320\."))
        images.page.reload()
        images.says(re.compile(r"Paso [1-9]\d* de 1320\."))
        images.page.get_by_role("link", name="Verlo aprender en la página Entrenar").click()
        images.page.get_by_role("button", name="Pausa").click()
        expect(images.page.locator(".which")).to_contain_text("en pausa", timeout=PATIENCE)
        images.page.go_back()
        images.says(re.compile(r"Descansa en el paso \d+ de 1320\."))
        expect(images.page.get_by_role("button", name="Continuar")).to_be_visible()


def test_a_training_that_fails_is_a_sentence(open_page, tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "MIRADA_RUNS", str(tmp_path))
    with serve() as address:
        page = open_page(f"{address}/words")
        run = {
            "id": "digits",
            "state": "failed",
            "error": "El disco está lleno.",
            "step": 44,
            "steps": 1320,
            "event": 0,
        }
        known = {"models": [], "digits": "digits"}
        page.route("**/api/images/models**", lambda route: route.fulfill(json=known))
        page.route("**/api/runs/digits**", lambda route: route.fulfill(json=run))
        page.goto(f"{address}/images?lang=es#s=digit")
        images = Images(page)
        images.says("El entrenamiento ha fallado. El disco está lleno.")
        expect(page.get_by_role("button", name="Probar otra vez")).to_be_visible()


@pytest.mark.parametrize(("scheme", "widths"), [("light", (1280, 768, 360)), ("dark", (1280,))])
def test_axe_finds_nothing(open_images, scheme, widths):  # at night the colours alone are others
    images = open_images(state="s=digit", color_scheme=scheme)
    images.looked()
    images.page.get_by_text("Más: enlace a este estado").click()
    for width in widths:
        images.page.set_viewport_size({"width": width, "height": 900})
        expect_accessible(images.page, f"{width} px, {scheme}")


def test_no_width_makes_the_page_scroll_sideways(open_images):
    images = open_images("en", "s=digit")
    images.looked()
    for width in (360, 390, 480, 599, 600, 768, 1119, 1120, 1280, 1920, 2560):
        images.page.set_viewport_size({"width": width, "height": 900})
        images.page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_finger_draws_and_finds_what_it_aims_at(open_images):
    images = open_images(state="s=digit", viewport={"width": 390, "height": 844}, has_touch=True)
    images.looked()
    small = images.page.evaluate(
        """() => [...document.querySelectorAll(
                'button, select, summary, .swi, .choice label, .spots label, .sources label')]
            .filter(e => e.checkVisibility() && !e.closest('header') && !e.closest('.grid-of'))
            .filter(e => { const b = e.getBoundingClientRect(); return Math.min(b.width, b.height) < 44; })
            .map(e => e.outerHTML.slice(0, 90))"""
    )
    assert small == []
    before = images.page.url
    images.pad.scroll_into_view_if_needed()
    box = images.pad.bounding_box()
    assert box
    images.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    images.page.wait_for_function("before => location.href !== before", arg=before)
    hand = images.page.context.new_cdp_session(images.page)

    def touch(kind: str, *fingers: tuple[float, float]) -> None:
        points = [
            {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"], "id": i}
            for i, (x, y) in enumerate(fingers)
        ]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    # What else of the hand comes to lie on the paper draws nothing.
    touch("touchStart", (0.2, 0.2))
    touch("touchStart", (0.2, 0.2), (0.9, 0.9))
    touch("touchMove", (0.3, 0.2), (0.8, 0.9))
    touch("touchMove", (0.4, 0.2), (0.7, 0.9))
    touch("touchEnd")
    lines = images.page.locator(".pen")
    expect(lines).to_have_count(2)
    numbers = re.findall(r"[\d.]+ ([\d.]+)", lines.last.get_attribute("d") or "")
    assert len(numbers) > 1
    assert all(float(y) < 2 for y in numbers)


def test_keys_alone_reach_everything(open_images):
    images = open_images(state="s=digit")
    images.looked()
    expect_all_within_reach(images.page)


def test_a_lab_that_has_gone_is_a_sentence(open_images):
    images = open_images(state="s=digit", forgive="net::ERR|Failed to fetch")
    expect(images.chances).to_have_count(10, timeout=PATIENCE)
    images.page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    images.draw([(0.3, 0.3), (0.6, 0.7)])
    expect(images.alert).to_contain_text("El laboratorio no responde")
    expect(images.chances).to_have_count(0)  # those were of another drawing
    images.page.unroute("**/api/**")
    images.draw([(0.3, 0.3), (0.7, 0.6)])
    expect(images.alert).to_have_count(0)


def test_a_model_deleted_meanwhile_is_said_and_can_be_taught_again(open_images):
    images = open_images(state="s=digit", forgive="status of 404")
    expect(images.chances).to_have_count(10, timeout=PATIENCE)
    error = {"error": {"code": "no_run", "message": "No hay ninguno."}}
    images.page.route("**/api/images/digit?**", lambda route: route.fulfill(status=404, json=error))
    images.page.route(
        "**/api/images/models**", lambda route: route.fulfill(json={"models": [], "digits": None})
    )
    images.draw([(0.3, 0.3), (0.6, 0.7)])
    expect(images.alert).to_contain_text("El modelo que miraba ya no está aquí.")
    expect(images.page.get_by_role("button", name="Entrenarlo ahora")).to_be_visible()
    expect(images.chances).to_have_count(0)
