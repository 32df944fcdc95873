"""Scene as a data class: frozen, filled in, free of torch until weights are asked for."""

import dataclasses
import math
import subprocess
import sys

import pytest
import torch

from mirada.layers.attention import attention_weights
from mirada.views.scene import Scene, SceneMask

QUERY = [[1, 0, 2], [0.5, -1, 0]]
KEY = [[0, 1, 1], [2, 0, 0], [1, 1, 1], [0, 0, -1], [3, 0, 1]]


def small(**more) -> Scene:
    return Scene(rows=["a", "b"], columns=list("vwxyz"), query=QUERY, key=KEY, **more)  # pyright: ignore[reportArgumentType]


def test_is_frozen_and_compares_by_what_it_holds():
    assert small() == small()
    assert hash(small()) == hash(small())
    assert small() != small(temperature=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        small().temperature = 2  # pyright: ignore[reportAttributeAccessIssue]


def test_fills_in_scale_temperature_masks_and_axes():
    scene = small()
    assert scene.scale == pytest.approx(1 / math.sqrt(3), abs=1e-15)
    assert (scene.temperature, scene.masks, scene.axes, scene.value) == (1, (), ("", ""), None)
    assert scene.to_dict()["axes"] == {"rows": "", "columns": ""}
    assert "value" not in scene.to_dict()


def test_takes_tensors_and_keeps_numbers():
    given = Scene(
        rows=("a", "b"),
        columns=tuple("vwxyz"),
        query=torch.tensor(QUERY),  # pyright: ignore[reportArgumentType]
        key=torch.tensor(KEY),  # pyright: ignore[reportArgumentType]
    )
    assert given == small()


def test_scale_and_temperature_are_those_of_the_formula():
    query, key = (torch.tensor(x, dtype=torch.float64) for x in (QUERY, KEY))
    by_hand = torch.softmax(query @ key.T * 0.25 / 2, dim=-1)
    torch.testing.assert_close(small(scale=0.25, temperature=2).weights(), by_hand, rtol=0, atol=1e-15)
    plain = attention_weights(query, key, temperature=2)
    torch.testing.assert_close(small(temperature=2).weights(), plain, rtol=0, atol=1e-15)


def test_temperature_does_not_divide_the_bias():
    bias = SceneMask("bias", table=((0.0, 1.0, 2.0, 3.0, 4.0), (5.0, 0.0, 0.0, 0.0, 0.0)))
    scores = torch.tensor(QUERY, dtype=torch.float64) @ torch.tensor(KEY, dtype=torch.float64).T
    expected = torch.softmax(scores / math.sqrt(3) / 7 + torch.tensor(bias.table), dim=-1)
    torch.testing.assert_close(small(temperature=7, masks=[bias]).weights(), expected, rtol=0, atol=1e-15)


def test_nobody_to_look_at_is_zero():
    hidden = small(value=[[1, 2]] * 5, masks=[{"kind": "padding", "length": 0, "side": "left"}])
    assert not hidden.weights().any()
    assert not hidden.output().any()


def test_a_mask_forgets_what_its_kind_does_not_use():
    assert small(masks=[SceneMask("causal", size=3)]) == small(masks=[{"kind": "causal"}])


def test_output_needs_values():
    with pytest.raises(ValueError, match="has no value, so it has no output; give it one vector a column"):
        small().output()


def test_refusals_are_short_however_long_what_is_refused():
    with pytest.raises(ValueError, match=r"^temperature is 'x{50,60}\.\.\.; expected a number$"):
        small(temperature="x" * 10_000)


def test_torch_is_not_loaded_before_weights_are_asked_for():
    code = (
        "import sys; from mirada import Scene\n"
        "s = Scene(['a'], ['b'], [[1]], [[1]]); s.to_json()\n"
        "assert 'torch' not in sys.modules\n"
        "assert s.weights().tolist() == [[1.0]]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_takes_the_lowest_temperature_that_its_schema_allows():
    assert small(temperature=1e-60).temperature == 1e-60
    with pytest.raises(ValueError, match="temperature"):
        small(temperature=9.9e-61)
