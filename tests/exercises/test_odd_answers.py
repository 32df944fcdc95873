"""Whatever a student gives, `check` answers with a sentence that helps."""

import math
import sys
import threading
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mirada import exercises
from mirada.exercises import ENTRIES
from mirada.exercises import row_by_hand as by_hand
from mirada.exercises import split_heads as split
from mirada.exercises import temperature as warm
from mirada.exercises import what_61_percent_means as example

THINGS = [
    *(0, 1, -3, True, 0.58, 1e400, math.nan, 10**400, 3j, "", "abc", "0,58", b"x", object(), object, type),
    *([1], [1, 2, 3], [[1, 2], [3]], [[], []], [None, 1], ["a", "b", "c"], {1, 2}, {"a": 1}, iter([1, 2])),
    *(range(3), [0.5] * 10**5, np.zeros(3), np.array(["x"]), np.array([1, "x"], dtype=object), np.float16(2)),
    *(
        np.zeros(0),
        np.ma.masked,
        torch.zeros(0),
        torch.zeros(3),
        torch.ones(2, 3, 5, 7),
        torch.tensor(math.nan),
    ),
    *(torch.zeros(3, dtype=torch.cfloat), torch.zeros(3, device="meta"), torch.eye(3).to_sparse()),
    *(torch.tensor([1, 2, 3], dtype=torch.int8), torch.zeros(3, dtype=torch.bfloat16), torch.nn.Linear(2, 2)),
    *(len, print, int, max, partial(max, 3), lambda: 3, lambda *a: None, lambda *a: a, lambda *a: object()),
    *(lambda *a: sys.exit(3), lambda *a: sys.exit(), lambda *a: [1, [2]], lambda *a: torch.zeros(2, 3)),
    *(torch, exercises, threading.Lock(), [[[[[0]]]]], [torch.zeros(2), torch.zeros(3)], (1, [2, 3])),
]


class Hostile:
    """Everything that one might ask of it raises."""

    def __getattribute__(self, name):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    __hash__ = None


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.filterwarnings("ignore")
def test_no_answer_makes_check_raise(name):
    exercise = getattr(exercises, name)
    for thing in [*THINGS, Hostile(), Hostile]:
        verdict = exercise.check(thing)
        assert verdict.status in ("pending", "not_yet", "failed"), thing
        assert "Traceback" not in repr(verdict)
        assert verdict._repr_markdown_().startswith("**")


nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)


@settings(max_examples=50)
@given(answer=nested)
def test_no_list_of_lists_makes_check_raise(answer):
    for exercise in (by_hand, example, split):
        assert exercise.check(answer).status in ("pending", "not_yet")


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ([0, 2, 0, 32, 0, 66], "verdict.comma"),
        ([2, 32, 66], "verdict.percent"),
        (["2 %"] * 3, "verdict.no_numbers"),
        ([0.02, 0.32], "verdict.count"),
        ([0.02, 0.32, 0.64], "verdict.near"),
        ([0.02, 0.5, 0.5], "verdict.place"),
        ([0.32, 0.66, 0.02], "verdict.order"),
        ([[0.66, 0.32, 0.02]], "verdict.order"),
        ([0.32, 0.66, 0.66], "verdict.place"),
        ([0.02, math.nan, 0.66], "verdict.nan"),
        ([[0.02], [0.32, 0.66]], "verdict.ragged"),
        (lambda: [0.02, 0.32, 0.66], "verdict.no_value"),
        ({"Ana": 0.02}, "verdict.no_numbers"),
    ],
)
def test_what_is_said_of_numbers(answer, hint):
    assert by_hand.check(answer).hint == hint


def test_the_place_is_counted_from_one():
    assert "number 2 of the list" in repr(by_hand.check([0.02, 0.5, 0.5]))


def test_two_decimals_are_enough_and_needed():
    assert by_hand.check([0.0191, 0.3239, 0.6569])
    assert by_hand.check([0.02, 0.32, 0.66])
    assert not by_hand.check([0.02, 0.33, 0.65])
    assert not by_hand.check([0.0, 0.3, 0.7])


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (torch.zeros(5, 7), "verdict.no_function"),
        (lambda scores: scores, "verdict.arguments"),
        (lambda scores, T, extra: scores, "verdict.arguments"),
        (lambda scores, T: print(end=""), "verdict.nothing"),
        (lambda scores, T: scores.sum(), "verdict.shape"),
        (lambda scores, T: scores.softmax(-1).T, "verdict.shape"),
        (lambda scores, T: (scores / T).softmax(-1) + 0.01, "verdict.numbers"),
        (lambda scores, T: scores * math.nan, "verdict.nan"),
        (lambda scores, T: "weights", "verdict.no_numbers"),
        (lambda scores, T: [[1, 2], [3]], "verdict.ragged"),
        (lambda scores, T: scores.div_(T).softmax(-1), "verdict.changed"),
        (lambda scores, T: scores.softmax(-1).mul_(0) + scores.zero_(), "verdict.changed"),
    ],
)
def test_what_is_said_of_functions(answer, hint):
    verdict = warm.check(answer)
    assert verdict.status == "not_yet"
    assert verdict.hint == hint


def test_shapes_are_named():
    said = repr(warm.check(lambda scores, T: scores.sum()))
    assert "shape (); (5, 7) is expected" in said


def test_arguments_may_have_other_names_and_defaults():
    assert warm.check(lambda a, b, c=None: (a / b).softmax(-1))
    assert warm.check(lambda *both: (both[0] / both[1]).softmax(-1))


def test_a_function_that_fails_is_told_in_a_sentence_with_its_own_line():
    def mine(x, num_heads):
        width = x.shape[-1] // num_heads
        return helper(x, width)

    def helper(x, width):
        return x.view(2, 5, 17, width).no_such_thing

    verdict = split.check(mine)
    assert verdict.status == "failed"
    line = helper.__code__.co_firstlineno + 1
    assert repr(verdict).startswith(
        "Your function failed. It stopped with RuntimeError: shape '[2, 5, 17, 7]'"
    )
    assert f"in line {line}: `return x.view(2, 5, 17, width).no_such_thing`." in repr(verdict)
    assert "site-packages" not in repr(verdict)


def test_where_the_code_is_not_known_the_line_stands_alone():
    names = {}
    exec("def mine(x, n):\n\n    return x.nothing", names)  # as in a plain `python` shell
    said = repr(split.check(names["mine"]))
    assert "AttributeError: 'Tensor' object has no attribute 'nothing'." in said
    assert said.endswith("It happened in line 3.")


def test_a_long_message_is_cut_and_a_recursion_without_end_is_a_sentence():
    def long(x, n):
        raise ValueError("word " * 1000)

    def endless(x, n):
        return endless(x, n)

    assert len(repr(split.check(long))) < 400
    assert "RecursionError" in repr(split.check(endless))


def test_leaving_python_is_a_failure_and_ctrl_c_is_not_swallowed():
    def leave(x, n):
        sys.exit("bye")

    def interrupted(x, n):
        raise KeyboardInterrupt

    assert "SystemExit: bye" in repr(split.check(leave))
    with pytest.raises(KeyboardInterrupt):
        split.check(interrupted)


def test_a_failure_that_is_a_typical_mistake_says_both():
    said = repr(exercises.write_attention.check(lambda q, k, v: (q @ k).softmax(-1) @ v))
    assert "RuntimeError: mat1 and mat2" in said
    assert "transpose the last two axes" in said


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ([0.61, 0.22, 0.14, 0.03], "weights"),
        ([0, 0.5, 0.3, 0.2], "other_weights"),
        ([0, 1, 2, 3], "shape"),
        (torch.zeros(4, 0), "shape"),
        ([[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], "shape"),
        ([[0], [1], [2], [3]], "shape"),
        ([[0, 0]] * 4, "all_zero"),
        ([[0, 0], [0.14, 0], [-0.22, 0], [0, 0]], "cancels"),
        ([[1, 1]] * 4, "same_as_others"),
        ([[1, 1], [0, 0], [3, 1], [2, 1]], "another_word"),
        ([[1, 0], [0, 1], [0, 2], [0, 3]], "perpendicular"),
        ([[0.1, 0], [2, 1], [1, 2], [1, 3]], "still_adds"),
    ],
)
def test_a_counterexample_that_is_none(answer, hint):
    assert example.check(answer).hint == f"what_61_percent_means.{hint}"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ([4.03, 7.91, 20.14], "sqrt_d.measured"),
        ([[3.8, 8.0, 20.9]], "sqrt_d.measured"),
        ([4, 8, 22.5], "verdict.place"),
        ([8, 4, 20], "verdict.order"),
        ([4.03, 7.91], "verdict.count"),
    ],
)
def test_what_was_measured_is_told_from_what_is_another_number(answer, hint):
    assert exercises.sqrt_d.check(answer).hint == hint


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("write_the_mask", lambda n: __import__("mirada").Mask.causal(), "description"),
        ("sort_instead", lambda rows: rows.sort(1).values, "digits"),
        ("sort_instead", lambda rows: rows, "not_places"),
        ("kv_cache", lambda q, k, v, cache: v, "no_pair"),
        ("kv_cache", lambda q, k, v, cache: (v, k), "no_cache"),
    ],
)
def test_hints_for_what_is_no_answer_at_all(name, answer, hint):
    assert getattr(exercises, name).check(answer).hint == f"{name}.{hint}"
