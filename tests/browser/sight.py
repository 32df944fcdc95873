"""The Words page as a person meets it: words, percentages, handles, cards, by their roles and names."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page, expect

import mirada.views

DATA = json.loads((Path(mirada.views.__path__[0]) / "words.json").read_text("utf-8"))
RANGE = 2.5  # coordinates lie in ±RANGE ...
EDGE = 2.7  # ... on a plane that shows a little more
NARROW = "\u202f"  # the space before a Spanish per cent sign

CATALOGUE = Path(__file__).parents[2] / "frontend/src/catalogue"
TEXTS = {
    language: {
        key: json.loads(text)
        for name in (language, f"tasks.{language}")
        for key, text in re.findall(
            r'^  "?([\w.]+)"?: (".*"),$', (CATALOGUE / f"{name}.ts").read_text("utf-8"), re.MULTILINE
        )
    }
    for language in ("es", "en")
}


def said(key: str, language: str = "es", **filled: object) -> str:
    """What the page says for a key of its catalogue; {names} filled in, without the stars of emphasis."""
    text = TEXTS[language][key].replace("*", "")
    for name, value in filled.items():
        text = text.replace("{" + name + "}", str(value))
    return text


class Handle:
    """A vector that can be dragged: a group of two sliders, across and up, of the plane that it stands in."""

    def __init__(self, page: Page, name: str, axes: tuple[str, str]):
        self.page = page
        self.group = page.get_by_role("group", name=name, exact=True)
        self.across, self.up = (
            self.group.get_by_role("slider", name=f"{name}, {axis}", exact=True) for axis in axes
        )

    def expect_at(self, x: float, y: float) -> None:
        expect(self.across).to_have_value(f"{x:g}")
        expect(self.up).to_have_value(f"{y:g}")

    def centre(self) -> tuple[float, float]:
        self.group.scroll_into_view_if_needed()
        return middle(box_of(self.group))

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Where (x, y) stands on the screen, in the plane of queries and keys."""
        self.group.scroll_into_view_if_needed()
        plane = box_of(self.group.locator(".."))
        return (
            plane["x"] + (x + EDGE) / (2 * EDGE) * plane["width"],
            plane["y"] + (EDGE - y) / (2 * EDGE) * plane["height"],
        )


class Sight:
    """One Words page."""

    def __init__(self, page: Page, language: str = "es"):
        self.page = page
        self.language = language
        self.main = page.get_by_role("main")
        self.words = page.get_by_role("group", name=self.said("words"), exact=True)
        self.bars = self.words.get_by_role("button")
        self.temperature = page.get_by_role("slider", name=self.said("temperature"))
        self.causal = page.get_by_role("switch", name=self.said("causal"))
        self.reset = page.get_by_role("button", name=self.said("reset"))
        self.sum = page.get_by_role("table").first

    def said(self, key: str, **filled: object) -> str:
        return said(key, self.language, **filled)

    # ---- to do

    def word(self, name: str, nth: int = 0) -> Locator:
        """The radio button of a word; nth tells equal words apart."""
        return self.words.get_by_role("radio", name=name, exact=True).nth(nth)

    def text(self, name: str, nth: int = 0) -> Locator:
        """The word itself, to be pointed at."""
        return self.words.get_by_text(name, exact=True).nth(nth)

    def choose(self, name: str, nth: int = 0) -> None:
        """By keyboard, so that no mouse rests on it afterwards."""
        self.word(name, nth).press("Space")

    def take(self, sentence: str) -> None:
        radio = self.page.get_by_role("radio", name=sentence, exact=True)
        radio.press("Space")
        expect(radio).to_be_checked()

    def handle(self, which: str, name: str) -> Handle:
        label = self.said("handle." + which, word=name)
        return Handle(self.page, label, (self.said("axis.0"), self.said("axis.1")))

    def set(self, which: str, name: str, x: float, y: float) -> None:
        """Put a vector somewhere through its sliders, as a screen reader would."""
        handle = self.handle(which, name)
        handle.across.fill(f"{x:g}")
        handle.up.fill(f"{y:g}")
        handle.expect_at(x, y)

    def open_more(self) -> None:
        self.page.get_by_text(self.said("more")).click()

    def look_at(self, sentence: str) -> None:
        """A sentence of one's own; "more" must be open."""
        self.page.get_by_label(self.said("own.label")).fill(sentence)
        self.page.get_by_role("button", name=self.said("own.use")).click()

    # ---- to see

    def section(self, name: str) -> Locator:
        heading = self.page.get_by_role("heading", name=self.said(name))
        return self.page.locator("section").filter(has=heading)

    def card(self, task: int) -> Locator:
        """A task, opened."""
        card = self.page.get_by_role("listitem").filter(has_text=self.said(f"task.{task}"))
        if card.locator("details[open]").count() == 0:
            card.get_by_text(self.said(f"task.{task}")).click()
        return card

    def says(self, text: str) -> None:
        """The sentence stands somewhere on the page (not in what is said to screen readers alone)."""
        expect(self.main).to_contain_text(text)

    def expect_shares(self, shares: Sequence[int | None]) -> None:
        """The whole per cents under the words; 0 is written as less than one, None is masked."""
        gap = " " if self.language == "es" else ""
        texts = ["" if s is None else f"{s or '<1'}{gap}%" for s in shares]
        expect(self.bars).to_have_text(texts)

    def shares(self) -> list[int | None]:
        texts = [text.replace("<1", "0") for text in self.bars.all_inner_texts()]
        return [int(re.sub(r"\D", "", text)) if text else None for text in texts]

    def arcs(self) -> dict[int, float]:
        """The width of the arc to each word, by its position; a masked word has none."""
        strokes = self.words.locator("svg path").evaluate_all(
            "paths => paths.map(p => [p.getAttribute('stroke'), +p.getAttribute('stroke-width')])"
        )
        return {int(re.findall(r"\d+", name)[-1]): width for name, width in strokes}

    def columns(self) -> list[float]:
        """The height of the column under each word that has one."""
        return self.bars.locator("i").evaluate_all("all => all.map(i => i.getBoundingClientRect().height)")

    def diamonds(self) -> list[tuple[float, float]]:
        """Where the outputs stand in the plane of values, in its numbers; a dashed one comes first."""
        places = (
            self.section("values")
            .locator("svg")
            .evaluate(
                """svg => [...svg.querySelectorAll('path[d^="M0-9.5"]')].map(p => {
                 const {e, f} = p.getCTM().multiply(svg.getCTM().inverse());
                 return [e / svg.viewBox.baseVal.width, f / svg.viewBox.baseVal.height];
               })"""
            )
        )
        return [(-0.6 + 4.2 * x, 2.7 - 3.2 * y) for x, y in places]

    def expect_output(self, x: float, y: float) -> None:
        """What the chosen word takes with it, drawn where it belongs (a pixel is about 0.01)."""
        place = self.diamonds()[-1]
        assert math.dist(place, (x, y)) < 0.03, f"the output stands at {place}, not at {(x, y)}"


def box_of(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box, f"{locator} is not drawn"
    return box


def middle(box: FloatRect) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def vectors(sentence: str, part: str) -> list[list[float]]:
    """Where a sentence's queries, keys or values start."""
    return [DATA["vectors"][name][part] for name, _ in DATA["sentences"][sentence]["es"]]


def weights(query, keys, *, temperature: float = 1.0) -> list[float]:
    """Written out once more, apart from the page and the library: softmax(q · k / √2 / T)."""
    scores = [(query[0] * x + query[1] * y) / math.sqrt(2) / temperature for x, y in keys]
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def mean(weights, values) -> tuple[float, float]:
    x, y = (sum(w * v[axis] for w, v in zip(weights, values, strict=False)) for axis in (0, 1))
    return x, y
