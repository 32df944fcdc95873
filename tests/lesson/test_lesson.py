"""The chapters: their code runs, both languages say the same, and every number in a sentence is computed."""

import json
import re
from pathlib import Path

import nbformat
import pytest
import torch
from figures import FIGURES, NO_FIGURES
from running import agrees, bones, code_cells, numbers, prose, readable, run

from mirada.exercises import texts
from mirada.exercises.listing import ENTRIES
from mirada.lesson.chapters import Code, chapters
from mirada.lesson.notebook import notebook
from mirada.views.figures import alternative

FACTS = json.loads((Path(__file__).parents[1] / "facts.json").read_text("utf-8"))
ENGLISH, SPANISH = chapters("en"), chapters("es")
PAIRS = [(ours, theirs) for ours in ENGLISH for theirs in SPANISH if ours.number == theirs.number]
BOTH = [*ENGLISH, *SPANISH]
# What must be computed: decimals, shares, thousands, and whole numbers of three digits that are no year.
UNCHECKED = re.compile(r"\d[.,]\d|\d\s?%|\d[\u202f\u00a0 ]\d{3}\b|\b(?!(?:19|20)\d\d\b)\d{3,}")


def named(chapter):
    return chapter.name


def pair_named(pair):
    return pair[0].name


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What a chapter, by its number, comes to; each is run once."""
    results = {}

    def ran(chapter):
        if chapter.number not in results:
            own = tmp_path_factory.mktemp(chapter.name)
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(own)
                patch.setenv("MIRADA_HOME", str(own))  # where one's progress is kept
                patch.setattr(texts, "_chosen", "en")  # what the notebook chooses is forgotten afterwards
                results[chapter.number] = run(chapter)
            torch.set_printoptions(profile="default")
        return results[chapter.number]

    return ran


@pytest.mark.parametrize("chapter", ENGLISH, ids=named)
def test_the_code_runs_and_every_figure_can_be_heard(ran, chapter):
    """Warnings are errors here, as everywhere."""
    assert [figure for figure in ran(chapter).figures if not alternative(figure)] == []


def test_both_languages_have_the_same_chapters():
    assert [each.number for each in ENGLISH] == [each.number for each in SPANISH]


@pytest.mark.parametrize("pair", PAIRS, ids=pair_named)
def test_both_languages_have_the_same_code(pair):
    english, spanish = pair
    assert [*map(bones, code_cells(english))] == [*map(bones, code_cells(spanish))]


@pytest.mark.parametrize("pair", PAIRS, ids=pair_named)
def test_both_languages_have_the_same_headings_folds_and_exercises(pair):
    for mark in (
        r"^\(([\w-]+)\)=\n(#+) ",
        r"^(:::\{fold\})",
        r"^```\{(\w+)\} ?(\w*)$",
        r"(^\$\$$|^- |^\d\. )",
    ):
        found = [re.findall(mark, chapter.text, re.MULTILINE) for chapter in pair]
        assert found[0] == found[1]
    assert len({("●" in chapter.title) for chapter in pair}) == 1


@pytest.mark.parametrize("chapter", BOTH, ids=named)
def test_a_chapter_has_its_parts(chapter):
    places = re.findall(r"^\(([\w-]+)\)=$", chapter.text, re.MULTILINE)
    headings = re.findall(r"^##+ ", chapter.text, re.MULTILINE)
    assert len(places) == len(headings) == len(set(places))
    assert places[0] == "goals"
    assert [place for place in places if place in ("think", "learned", "next")] == [
        "think",
        "learned",
        "next",
    ]
    assert chapter.text.count(":::{fold}") >= 2
    assert chapter.title.startswith(f"{chapter.number}. ")


@pytest.mark.parametrize("chapter", BOTH, ids=named)
def test_every_number_in_a_sentence_is_what_the_code_computes(ran, chapter):
    """The code of both languages is the same, so one run serves both."""
    names = ran(chapter).names
    wrong = [
        (shown, expression)
        for shown, sign, expression in numbers(chapter)
        if not agrees(shown, sign, eval(expression, dict(names)), chapter.language)
    ]
    assert wrong == []


@pytest.mark.parametrize("chapter", BOTH, ids=named)
def test_no_number_stands_in_the_prose_unchecked(chapter):
    lines = [line for line in readable(chapter).splitlines() if UNCHECKED.search(line)]
    assert lines == []


@pytest.mark.parametrize("pair", PAIRS, ids=pair_named)
def test_both_languages_promise_the_same_numbers(pair):
    english, spanish = (sorted(expression for _, _, expression in numbers(chapter)) for chapter in pair)
    assert english == spanish


@pytest.mark.parametrize("chapter", BOTH, ids=named)
def test_a_chapter_is_a_notebook_without_marks_of_ours(chapter):
    made = nbformat.reads(notebook(chapter), as_version=4)
    nbformat.validate(made)
    ours = [piece.source for piece in chapter.pieces if isinstance(piece, Code)]
    assert [source for source in ours if source not in code_cells(chapter)] == []
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert not re.search(r"\{num\}|:::|\)=$|\.md\b", text, re.MULTILINE)


@pytest.mark.parametrize("chapter", BOTH, ids=named)
def test_each_exercise_speaks_the_chapter_s_language_whichever_is_answered_first(chapter):
    asked = [cell for cell in code_cells(chapter) if cell.startswith("from mirada import exercises")]
    assert len(asked) == prose(chapter).count("```{exercise}")
    assert all(f'exercises.set_language("{chapter.language}")' in cell for cell in asked)


@pytest.mark.parametrize("chapter", BOTH, ids=named)
def test_links_to_other_chapters_lead_somewhere(chapter):
    linked = re.findall(r"\]\((\d\d-[\w-]+)\.md", chapter.text)
    assert set(linked) <= {each.name for each in chapters(chapter.language)}


@pytest.mark.parametrize("chapter", ENGLISH, ids=named)
def test_an_exercise_stands_in_the_chapter_that_its_list_names(chapter):
    asked = re.findall(r"^```\{exercise\} (\w+)$", prose(chapter), re.MULTILINE)
    assert asked == [name for name, entry in ENTRIES.items() if entry.chapter == chapter.number]


def fact(path):
    found = FACTS
    for step in path.split("/"):
        found = found[int(step) if isinstance(found, list) else step]
    return found


def leaves(value):
    """The numbers in it, in their order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in leaves(each)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def decimals(numbers):
    return max(len(f"{number:.10f}".rstrip("0").partition(".")[2]) for number in numbers)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.path)
def test_a_figure_is_computed_in_its_chapter_and_stands_on_its_page(ran, figure):
    (chapter,) = (each for each in ENGLISH if each.number == figure.chapter)
    result = ran(chapter)
    computed = eval(figure.expression, dict(result.names))
    computed = leaves(computed.tolist() if hasattr(computed, "tolist") else computed)
    expected = leaves(fact(figure.path))
    assert len(computed) == len(expected)
    places = decimals(expected)
    for ours, theirs in zip(computed, expected, strict=True):
        within = figure.tolerance or 0.5000001 * 10**-places
        assert abs(ours - theirs) <= within, (figure.path, ours, theirs)
    told = " ".join([result.shown, chapter.text, *map(alternative, result.figures)])
    missing = [value for value in computed if not any(form in told for form in forms(value, places))]
    assert missing == []


def forms(value, places):
    """How a number may stand on a page."""
    rounded = f"{value:.{places}f}"
    whole = {f"{round(value):d}", f"{round(value):,d}"} if places == 0 or value == round(value) else set()
    percent = f"{100 * value:.{max(places - 2, 0)}f}"
    share = {f"{percent}%", f"{percent} %", f"{percent}\u202f%"}
    return {rounded, rounded.replace("-", "−"), f"{value:.4f}", f"{value:.0e}"} | whole | share


def paths(value, path=""):
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        value = {str(place): each for place, each in enumerate(value)}
    if isinstance(value, dict):
        for name, each in value.items():
            yield from paths(each, f"{path}/{name}" if path else name)
    elif leaves(value):
        yield path


def test_every_figure_has_a_chapter():
    covered = [figure.path for figure in FIGURES]
    left = {
        path
        for path in paths(FACTS)
        if path not in NO_FIGURES and not any(f"{path}/".startswith(f"{each}/") for each in covered)
    }
    assert left == set()
