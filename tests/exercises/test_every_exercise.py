"""Every exercise: its solution passes, nothing is pending, and each typical mistake has a hint of its own."""

import pytest
import torch

from mirada import exercises
from mirada.exercises.functions import Function
from mirada.exercises.listing import ENTRIES
from mirada.exercises.running import call
from mirada.exercises.texts import texts
from mirada.exercises.values import Values

EVERY = {name: getattr(exercises, name) for name in ENTRIES}
FUNCTIONS = {name: each for name, each in EVERY.items() if isinstance(each, Function)}
MISTAKES = [
    (name, hint, wrong)
    for name, each in EVERY.items()
    if isinstance(each, Function | Values)
    for hint, wrong in each.mistakes.items()
]


def solution(name):
    """What a student who is right would hand in."""
    return FUNCTIONS[name].solution if name in FUNCTIONS else EVERY[name].solution()


def test_there_are_twenty_four_and_eight_are_the_core():
    assert len(ENTRIES) == 24
    assert [name for name, entry in ENTRIES.items() if entry.core] == [
        *("row_by_hand", "write_attention", "sqrt_d", "temperature"),
        *("split_heads", "write_the_mask", "permutation", "count_block"),
    ]
    assert [entry.number for entry in ENTRIES.values()] == list(range(1, 25))
    chapters = [entry.chapter for entry in ENTRIES.values()]
    assert chapters == sorted(chapters)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_solution_passes_and_says_what_was_learnt(name):
    verdict = EVERY[name].check(solution(name))
    assert verdict.status == "correct"
    assert verdict
    assert texts("en")[f"{name}.why"] in repr(verdict)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_empty_answer_is_pending(name):
    for nothing in (None, ..., "", "…", [], [...], [None, None], (), [[...]]):
        assert EVERY[name].check(nothing).status == "pending"
    assert EVERY[name].check().status == "pending"


def bare(*given): ...


def documented(*given):
    """Here the student is to write."""


def announced(*given):
    raise NotImplementedError


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_untouched_function_is_pending(name):
    for stub in (bare, documented, announced):
        assert FUNCTIONS[name].check(stub).status == "pending"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_code_that_the_question_gives_can_be_run_as_it_stands(name):
    exercise, names = FUNCTIONS[name], {}
    exec(exercise.given_code, names)
    given = names[(exercise.broken or exercise.solution).__name__]
    verdict = exercise.check(given)
    if exercise.broken:
        assert verdict.hint == f"{name}.as_it_was"
    else:
        assert verdict.status == "pending"


@pytest.mark.parametrize("name", ENTRIES)
def test_the_solution_that_teachers_see_can_be_run_as_it_stands(name):
    names = {}
    exec(EVERY[name].solution_code, names)
    made = names[EVERY[name].solution.__name__]
    assert EVERY[name].check(made if name in FUNCTIONS else made()).status == "correct"
    assert bool(EVERY[name].solution_value) == (name not in FUNCTIONS)


@pytest.mark.parametrize(("name", "hint", "wrong"), MISTAKES, ids=[f"{n}.{h}" for n, h, _ in MISTAKES])
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_each_typical_mistake_gets_its_own_hint(name, hint, wrong):
    verdict = EVERY[name].check(wrong)
    assert verdict.status in ("not_yet", "failed")
    assert not verdict
    assert verdict.hint == f"{name}.{hint}"
    assert texts("en")[f"{name}.{hint}"] in repr(verdict)


def test_there_are_enough_of_them_and_no_two_hints_of_an_exercise_are_alike():
    for language in ("es", "en"):
        for name in ENTRIES:
            said = [
                text
                for key, text in texts(language).items()
                if key.startswith(f"{name}.") and not key.endswith((".title", ".question", ".why"))
            ]
            assert len(said) >= 4, name
            assert len(set(said)) == len(said), name


@pytest.mark.parametrize("name", [name for name, each in FUNCTIONS.items() if each.use is call])
def test_an_answer_that_only_fits_one_case_fails(name):
    """What the solution gives for the first case, whatever is asked."""
    exercise = FUNCTIONS[name]
    remembered = exercise.solution(*exercise.drawn()[0])
    assert exercise.check(lambda *given: remembered).status == "not_yet"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_tried_on_the_same_numbers_each_time(name):
    torch.manual_seed(1)
    first = FUNCTIONS[name].drawn()
    torch.manual_seed(2)
    for one, other in zip(first, FUNCTIONS[name].drawn(), strict=True):
        for a, b in zip(one, other, strict=True):
            assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b


@pytest.mark.parametrize("name", ENTRIES)
def test_the_question_names_itself_and_shows_its_code(name):
    shown, markdown = repr(EVERY[name]), EVERY[name]._repr_markdown_()
    for part in (EVERY[name].title, EVERY[name].question, str(ENTRIES[name].number)):
        assert part in shown
        assert part in markdown
    assert f"exercises.{name}.check(" in shown
    assert ("```python" in markdown) == (name in FUNCTIONS)
