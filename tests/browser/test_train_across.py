"""Cross-attention on the Train page: what was written stands over what is read, and looks down at it."""

import re

import pytest
from playwright.sync_api import expect
from train_page import lab_of

import mirada


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    mirada.train("reverse-seq2seq", out=runs / "dos", steps=3)
    with lab_of(runs) as address:
        yield address


def test_each_written_token_has_a_strand_to_each_that_is_read(open_page, lab):
    page = open_page(f"{lab}/train?lang=es#dos")
    strands = page.locator(".arches path")
    expect(strands).to_have_count(8)
    written = page.get_by_role("group", name="Qué posición mira").get_by_role("radio")
    before = strands.first.get_attribute("d")
    written.nth(2).check(force=True)
    expect(strands.first).not_to_have_attribute("d", before or "")
    # As wide as the weights, which are those of the table behind: 34 pixels are 100 %.
    widths = sorted(float(path.get_attribute("stroke-width") or 0) for path in strands.all())
    shares = page.locator(".bar span > span").all_inner_texts()
    assert sum(widths) == pytest.approx(34, abs=1)
    assert widths[-1] / 34 == pytest.approx(max(int(re.sub(r"\D", "", s)) for s in shares) / 100, abs=0.006)


def test_on_a_phone_the_drawing_scrolls_and_the_page_does_not(open_page, lab):
    page = open_page(f"{lab}/train?lang=en#dos", viewport={"width": 360, "height": 780})
    expect(page.locator(".arches path")).to_have_count(8)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
