"""What is on the screen can be taken along: the picture as SVG and PNG, the numbers as CSV."""

import csv
import io
import struct
from itertools import groupby
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect
from sight import NARROW, Sight, mean, vectors, weights

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def sight(open_words) -> Sight:
    sight = open_words()
    sight.open_more()
    return sight


def save(sight: Sight, kind: str) -> tuple[str, bytes]:
    """The name and the content of the file that a button hands out."""
    with sight.page.expect_download() as download:
        sight.page.get_by_role("button", name=sight.said("export." + kind)).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def texts(svg: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in svg.iter(SVG + "text")]


def test_svg(sight):
    name, content = save(sight, "svg")
    assert name == "mirada-arcs.svg"
    svg = ElementTree.fromstring(content)
    assert svg.tag == SVG + "svg"
    words = ["Ana", "guardó", "la", "plata", "en", "el", "banco"]
    numbers = [f"{share}{NARROW}%" for share in (2, 3, 3, 61, 2, 1, 28)]
    sentence = f"«banco» mira sobre todo a «plata» (61{NARROW}%), luego a sí misma (28{NARROW}%)."
    assert sorted(texts(svg)) == sorted([*words, *numbers, sentence])
    arcs = [float(p.get("stroke-width", 0)) for p in svg.iter(SVG + "path")]
    assert sorted(arcs) == pytest.approx(sorted(sight.arcs().values()))
    assert sum(1 for _ in svg.iter(SVG + "rect")) >= 1 + 7 + 2  # paper, columns, two lines under words


def test_svg_stands_alone(sight):
    """Nothing in it comes from elsewhere, nothing in it runs, no colour depends on a page."""
    _, content = save(sight, "svg")
    svg = ElementTree.fromstring(content)
    ids = {e.get("id") for e in svg.iter()}
    for element in svg.iter():
        assert element.tag.removeprefix(SVG) in {
            "svg", "g", "rect", "path", "text", "linearGradient", "stop",
        }  # fmt: skip
        for attribute, value in element.items():
            assert "href" not in attribute
            assert not attribute.startswith("on")
            assert "var(" not in value
            assert "//" not in value
            if "url(" in value:
                assert value.removeprefix("url(#").removesuffix(")") in ids


def test_svg_of_hostile_words_is_valid_and_shows_them(sight):
    words = ["</text><script>window.ran=1</script>", "&amp;", "\"'", "مرحبا", "👩‍👩‍👧‍👦"]
    sight.look_at(" ".join(words))
    expect(sight.bars).to_have_count(len(words))
    _, content = save(sight, "svg")
    svg = ElementTree.fromstring(content)
    assert set(words) <= set(texts(svg))
    assert not list(svg.iter(SVG + "script"))


def test_svg_shows_the_mask_and_the_night(open_words):
    sight = open_words(state="l=es&w=5&c=1", color_scheme="dark")
    sight.open_more()
    _, content = save(sight, "svg")
    svg = ElementTree.fromstring(content)
    assert f"69{NARROW}%" in texts(svg)
    assert sum(text.endswith("%") for text in texts(svg)) == 6  # banco is masked: no number
    arcs = [path for path in svg.iter(SVG + "path") if "url" in path.get("stroke", "")]
    assert len(arcs) == 6  # and no arc
    assert sum(1 for _ in svg.iter(SVG + "path")) > 6  # but hatching
    assert b"#171411" in content.lower() or b"rgb(23, 20, 17)" in content


def test_png(sight):
    name, content = save(sight, "png")
    assert name == "mirada-arcs.png"
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width > 2000  # three pixels for one: it can be printed
    assert height > 1000
    assert len(content) > 50_000
    assert content[-8:-4] == b"IEND"
    # Drawn, not only begun: ink, paper and coral are all there.
    colours = sight.page.evaluate(
        """async bytes => {
            const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
            const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
            pen.drawImage(image, 0, 0);
            const seen = {}, {data} = pen.getImageData(0, 0, image.width, image.height);
            for (let i = 0; i < data.length; i += 4) {
                const c = [data[i], data[i + 1], data[i + 2]].join(); seen[c] = (seen[c] ?? 0) + 1;
            }
            return seen;
        }""",
        list(content),
    )
    for colour in ("33,28,23", "252,250,245", "219,81,56"):
        assert colours.get(colour, 0) > 100, colour


def table(content: bytes) -> list[dict[str, str]]:
    assert content.startswith(b"\xef\xbb\xbf"), "spreadsheets need the byte order mark to read accents"
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_csv(sight):
    name, content = save(sight, "csv")
    assert name == "mirada-words.csv"
    rows = table(content)
    assert len(rows) == 49
    who, whom = "posición de quien mira (desde 0)", "a quién mira"
    for row, looks in groupby(rows, key=lambda r: int(r[who])):
        looks = list(looks)
        exact = weights(vectors("money", "query")[row], vectors("money", "key"))
        assert [float(r["peso"]) for r in looks] == pytest.approx(exact, abs=1e-12)
        assert sum(float(r["peso"]) for r in looks) == pytest.approx(1, abs=1e-12)
        assert [r[whom] for r in looks] == ["Ana", "guardó", "la", "plata", "en", "el", "banco"]
        taken = (looks[0]["lo que se lleva quien mira 1"], looks[0]["lo que se lleva quien mira 2"])
        assert tuple(map(float, taken)) == pytest.approx(mean(exact, vectors("money", "value")), abs=1e-12)


def test_csv_says_what_is_masked(open_words):
    sight = open_words("en", "l=en&c=1")
    sight.open_more()
    _, content = save(sight, "csv")
    for row in table(content):
        later = int(row["position of who is looked at (from 0)"]) > int(row["position of who looks (from 0)"])
        assert row["masked (1: yes)"] == str(int(later))
        assert (float(row["weight"]) == 0) == later


def test_csv_runs_no_formula(sight):
    words = ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|'/c", 'a"b,c', "plain"]
    sight.look_at(" ".join(words))
    expect(sight.bars).to_have_count(len(words))
    _, content = save(sight, "csv")
    said = [row["a quién mira"] for row in table(content)[: len(words)]]
    assert said == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'=cmd|'/c", 'a"b,c', "plain"]
