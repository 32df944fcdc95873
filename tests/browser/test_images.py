"""The Images page in a real Chromium: photographs, pictures of one's own, links, keys, both languages."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from images_page import PATIENCE, PUT, Images, noise, png
from PIL import Image
from playwright.sync_api import expect
from test_a11y import expect_accessible, expect_all_within_reach

import mirada


@pytest.fixture
def open_images(open_page, lab) -> Callable[..., Images]:
    def open_(language: str = "es", state: str = "", **options) -> Images:
        return Images(open_page(f"{lab}/images?lang={language}" + (state and "#" + state), **options))

    return open_


def test_the_temple_is_cut_into_sixty_patches_and_each_of_them_looks(open_images):
    images = open_images()
    expect(images.page).to_have_title("¿A dónde mira cada parche? · Mirada")
    images.looked()
    expect(images.patches.get_by_role("radio")).to_have_count(61)
    expect(images.patch(11)).to_be_checked()
    images.says("El parche 11, en números")
    images.says("Fila 1, columna 1: píxeles 16 a 31 desde la izquierda y 16 a 31 desde arriba.")
    images.says("768 números de 0 a 1: 0,74; 0,75; 0,73; …; 0,07.")
    images.says("no ha aprendido nada")
    clear = images.shares()
    assert len(clear) == 60
    assert max(clear) == pytest.approx(1)
    images.page.locator(".spots label").nth(33).click()
    expect(images.patch(33)).to_be_checked()
    images.says("El parche 33, en números")
    assert images.shares() != clear
    images.page.locator("label.cls").click()
    images.says("[CLS] no es ningún parche de la imagen.")
    assert images.page.url.endswith("#p=cls")


def test_the_numbers_are_the_librarys(open_images, lab):
    """The whole table, as the page writes it into a file, beside the model itself."""
    import torch

    from mirada.lab.looking import new_model

    images = open_images(state="b=2&h=3&t=0.5")
    images.looked()
    images.page.get_by_text("Más: enlace a este estado").click()
    with images.page.expect_download() as download:
        images.page.get_by_role("button", name="Pesos, CSV").click()
    text = Path(download.value.path()).read_text("utf-8-sig")
    rows = [line.split(",") for line in text.splitlines()]
    assert rows[0] == ["quién", "a quién", "fila", "columna", "peso"]
    table = torch.tensor([float(row[4]) for row in rows[1:]], dtype=torch.float64).reshape(61, 61)
    assert rows[1 + 61 * 12 + 34][:4] == ["11", "33", "3", "3"]
    picture = Image.open(BytesIO(images.page.request.get(f"{lab}/images/sample.png").body()))
    pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1)[None] / 255
    with torch.no_grad(), mirada.watch(new_model(96, 160)) as gaze:
        new_model(96, 160)(pixels)
    squared = (
        gaze[1].weights(heads=2)[0, 0].double() ** 2
    )  # a temperature of a half squares before it divides
    torch.testing.assert_close(
        table, squared / squared.sum(-1, keepdim=True), rtol=0, atol=1e-5
    )  # five decimals


def test_block_head_rollout_and_temperature_change_what_is_seen(open_images):
    images = open_images()
    images.looked()
    group = images.page.get_by_role("group", name="Cabeza", exact=True)
    seen = [images.shares()]
    group.get_by_role("radio", name="2", exact=True).press("Space")
    expect(images.page).to_have_url(re.compile("h=2"))
    seen.append(images.shares())
    images.page.get_by_role("slider", name="Temperatura").press("Home")
    expect(images.page).to_have_url(re.compile(r"t=0\.1"))
    seen.append(images.shares())
    assert sum(seen[2]) < sum(seen[1])  # it focuses
    images.page.get_by_role("switch", name=re.compile("A través de los bloques")).press("Space")
    images.says("A través de 3 bloques, lo que llega al parche 11 viene sobre todo de él mismo")
    expect(group.get_by_role("radio", name="2", exact=True)).to_be_disabled()
    images.page.get_by_role("button", name="Volver al principio").click()
    expect(images.page).to_have_url(re.compile(r"lang=es$"))
    assert images.shares() == seen[0]


def test_the_mouse_shows_and_a_click_chooses(open_images):
    images = open_images()
    images.looked()
    spots = images.page.locator(".spots label")
    spots.nth(33).hover()
    images.says("El parche 33, en números")
    expect(images.patch(11)).to_be_checked()
    images.page.get_by_role("heading", level=1).hover()
    images.says("El parche 11, en números")


def test_arrows_go_where_they_point(open_images):
    images = open_images()
    images.looked()
    images.patch(11).focus()
    for key, where in (
        ("ArrowRight", 12),
        ("ArrowDown", 22),
        ("ArrowLeft", 21),
        ("ArrowUp", 11),
        ("End", 59),
    ):
        images.page.keyboard.press(key)
        expect(images.patch(where)).to_be_focused()
        expect(images.patch(where)).to_be_checked()
    images.page.keyboard.press("ArrowDown")
    expect(images.patch(59)).to_be_checked()
    images.patch(3).focus()
    images.page.keyboard.press("Space")
    images.page.keyboard.press("ArrowUp")
    expect(images.cls()).to_be_focused()
    images.page.keyboard.press("ArrowUp")
    expect(images.cls()).to_be_checked()
    images.page.keyboard.press("ArrowDown")
    expect(images.patch(0)).to_be_focused()


def test_real_photographs_of_ones_own_chosen_dropped_and_pasted(open_images):
    from sklearn.datasets import load_sample_image

    images = open_images()
    images.source("una imagen tuya")
    images.says("no se guarda")
    images.give(png(load_sample_image("flower.jpg"), "JPEG"), "flor.jpg")
    images.says("640 × 427 píxeles.")
    images.looked()
    expect(images.patches.get_by_role("radio")).to_have_count(61)
    high = np.ascontiguousarray(load_sample_image("china.jpg")[::3, ::3].transpose(1, 0, 2))
    assert images.page.evaluate(PUT, ["drop", list(png(high, "JPEG"))])
    images.says("143 × 214 píxeles.")
    expect(images.page.get_by_role("img", name="Tu imagen, en 10 filas de 6 parches")).to_be_visible()
    images.source("un templo")
    images.page.evaluate(PUT, ["paste", list(png(noise(48, 96)))])
    images.says("96 × 48 píxeles.")
    # It stands in no address, and the lab keeps nothing that a reload could find again.
    assert "own" not in images.page.url
    images.page.reload()
    images.looked()
    expect(images.page.get_by_role("radio", name="un templo")).to_be_checked()


def test_what_was_done_to_a_picture_is_said_in_the_language_of_the_page(open_images):
    images = open_images()
    images.source("una imagen tuya")
    turned = Image.fromarray(noise(40, 80))
    exif = turned.getexif()
    exif[0x0112] = 6
    images.give(png(np.asarray(turned), "JPEG", exif=exif))
    images.says("40 × 80 píxeles. Se ha girado como dice su EXIF.")
    images.page.get_by_text("English", exact=True).click()
    images.says("40 × 80 pixels. It was turned as its EXIF says.")


def test_of_two_pictures_the_last_one_given_is_shown_and_in_the_language_of_now(open_images):
    images = open_images()
    images.source("una imagen tuya")
    held = []
    images.page.route("**/api/images?**", lambda route: held.append(route))
    images.give(png(noise(40, 80)))
    images.give(png(noise(48, 900)))
    images.says("Leyéndola …")
    images.page.get_by_text("English", exact=True).click()
    for _ in range(50):
        if len(held) == 3:
            break
        images.page.wait_for_timeout(100)
    for route in reversed(held):
        route.continue_()
    images.says("900 × 48 pixels. The model reads the middle of it.")
    images.page.unroute("**/api/images?**")
    expect(images.page.get_by_role("img", name="Your picture, in one row of 10 patches")).to_be_visible()
    images.page.wait_for_timeout(300)  # the others are answered by now, too
    images.says("900 × 48 pixels.")


def test_what_takes_long_is_said_until_it_is_there(open_images):
    images = open_images()
    images.looked()
    held = []
    images.page.route("**/api/images/look**", lambda route: held.append(route))
    images.source("una flor")
    images.says("Mirando …")
    frame = images.page.locator(".frame")
    before = frame.bounding_box()
    held[0].continue_()
    images.looked()
    assert frame.bounding_box() == before
    expect(images.main).not_to_contain_text("Mirando …")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "vacío"),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            "no es una imagen que se pueda leer",
        ),
        (png(noise(97, 101))[:5000], "dañada"),
    ],
    ids=["empty", "markup", "half"],
)
def test_what_is_no_picture_is_a_sentence_and_the_page_goes_on(open_images, data, said):
    images = open_images(forgive="status of 422")
    images.source("una imagen tuya")
    images.give(data)
    expect(images.alert).to_contain_text(said, timeout=PATIENCE)
    expect(images.main).not_to_contain_text("no se guarda")
    images.give(png(noise(1, 1)))
    images.says("1 × 1 píxeles.")
    images.looked()
    expect(images.alert).to_have_count(0)


def test_what_is_too_large_is_not_even_sent(open_images):
    images = open_images()
    sent = []
    images.page.on("request", lambda request: sent.append(request.url))
    images.page.evaluate(PUT, ["drop", 21_000_000])
    expect(images.alert).to_contain_text("21,0 MB")
    assert [url for url in sent if "/api/images?" in url] == []


def test_links_lead_back_and_broken_ones_are_said(open_images):
    images = open_images(state="s=flower&p=27&b=3&h=4&t=0.25")
    images.looked()
    expect(images.page.get_by_role("radio", name="una flor")).to_be_checked()
    expect(images.patch(27)).to_be_checked()
    images.says("T = 0,25")
    images.page.get_by_text("Más: enlace a este estado").click()
    link = images.page.get_by_label("Enlace a este estado").input_value()
    assert link.endswith("/images?lang=es#s=flower&p=27&b=3&h=4&t=0.25")
    broken = open_images(state="s=cat")
    expect(broken.alert).to_contain_text("no se puede leer")
    broken.looked()
    gone = open_images(state="m=nadie")
    expect(gone.alert).to_contain_text("no está aquí", timeout=PATIENCE)
    gone.looked()
    # More than there is, in a link that is opened later: the most there is.
    gone.page.evaluate("location.hash = 'p=99&b=99&h=99'")
    expect(gone.page).to_have_url(re.compile("#p=59&b=3&h=4$"))
    expect(gone.alert).to_have_count(0)
    gone.page.evaluate("location.hash = 'm=alguien'")
    expect(gone.alert).to_contain_text("no está aquí")


def test_the_drawing_can_be_taken_along(open_images):
    images = open_images(state="p=33")
    images.looked()
    images.page.get_by_text("Más: enlace a este estado").click()
    for name, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with images.page.expect_download() as download:
            images.page.get_by_role("button", name=f"Dibujo, {name}").click()
        data = Path(download.value.path()).read_bytes()
        assert data.startswith(start)
        if name == "SVG":
            assert b"data:image/png;base64," in data
            assert b"var(" not in data
        else:
            assert Image.open(BytesIO(data)).size == (2112, 1267)


def test_english(open_images):
    images = open_images("en", locale="en-US")
    images.looked()
    expect(images.page).to_have_title("Where does each patch look? · Mirada")
    images.says(re.compile(r"Patch 11 looks (chiefly|at all)"))
    images.page.get_by_text("Español", exact=True).click()
    images.says(re.compile("El parche 11 mira"))
    expect(images.page.locator("html")).to_have_attribute("lang", "es")


def test_nothing_is_spoken_unasked_and_what_is_chosen_is_spoken_once(open_images):
    images = open_images()
    images.looked()
    status = images.page.get_by_role("status").last
    expect(status).to_be_empty()
    images.page.evaluate(
        """() => {
            const status = [...document.querySelectorAll('[role=status]')].at(-1);
            window.heard = [];
            new MutationObserver(() => heard.push(status.textContent))
                .observe(status, {childList: true, characterData: true, subtree: true});
        }"""
    )
    images.patch(11).focus()
    for _ in range(5):
        images.page.keyboard.press("ArrowRight")
    expect(status).to_contain_text("El parche 16 mira")
    assert len(images.page.evaluate("heard")) <= 2
    images.page.get_by_text("English", exact=True).click()
    expect(status).to_be_empty()
    images.patch(12).press("Space")
    expect(status).to_contain_text("Patch 12 looks")


@pytest.mark.parametrize("language", ["es", "en"])
def test_without_javascript_the_sample_and_its_numbered_grid(open_page, lab, language):
    page = open_page(f"{lab}/images?lang={language}", java_script_enabled=False)
    text = page.inner_text("body")
    assert {"es": "hace falta JavaScript", "en": "need JavaScript"}[language] in text
    assert page.locator(".cut-over text").all_text_contents() == [str(i) for i in range(60)]
    picture = page.locator("img")
    assert picture.get_attribute("alt")
    box, grid = picture.bounding_box(), page.locator(".cut-over").bounding_box()
    assert box == grid
    assert picture.evaluate("i => [i.naturalWidth, i.naturalHeight]") == [160, 96]
    assert page.locator("button, input, select").count() == 0
    page.get_by_text({"es": "Train", "en": "Entrenar"}[{"es": "en", "en": "es"}[language]]).click()
    page.wait_for_url(f"**/train?lang={language}")


@pytest.mark.parametrize(("scheme", "widths"), [("light", (1280, 768, 360)), ("dark", (1280,))])
def test_axe_finds_nothing(open_images, scheme, widths):  # at night the colours alone are others
    images = open_images(color_scheme=scheme)
    images.looked()
    images.page.get_by_text("Más: enlace a este estado").click()
    for width in widths:
        images.page.set_viewport_size({"width": width, "height": 900})
        expect_accessible(images.page, f"{width} px, {scheme}")


def test_no_width_makes_the_page_scroll_sideways(open_images):
    images = open_images()
    images.looked()
    for width in (360, 390, 480, 599, 600, 768, 1119, 1120, 1280, 1920, 2560):
        images.page.set_viewport_size({"width": width, "height": 900})
        images.page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")


def test_keys_alone_reach_everything(open_images):
    images = open_images()
    images.looked()
    expect_all_within_reach(images.page)
