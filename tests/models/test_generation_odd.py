"""Generation under autocast, of compiled models, and with options that are none."""

import pytest
import torch
from small import run_of

from mirada import BlockConfig, DecoderConfig, describe_cost, generate, summary


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_under_autocast_as_without_a_cache(family):
    model = run_of(family).model.float()
    start = {} if family == "decoder" else {"start": 1}
    prompt = torch.tensor([[2, 3, 1, 4], [1, 1, 2, 0]])
    with torch.autocast("cpu", torch.bfloat16):
        new = generate(model, prompt, 2, temperature=0, **start)
        target = torch.cat((prompt if family == "decoder" else torch.ones(2, 1).long(), new), 1)[:, :-1]
        logits = model(target) if family == "decoder" else model(prompt, target)
    chosen = logits[:, -2:].gather(-1, new[..., None])[..., 0]
    # bfloat16 rounds with and without a cache otherwise: what was taken is the largest but for that.
    assert ((logits[:, -2:].amax(-1) - chosen) < 0.1).all()


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_a_compiled_model_is_the_model(family):
    model = run_of(family).model
    compiled = torch.compile(model, backend="eager")
    start = {} if family == "decoder" else {"start": 1}
    prompt = torch.tensor([[2, 3, 1, 4]])
    expected = generate(model, prompt, 2, temperature=0, **start)
    assert torch.equal(generate(compiled, prompt, 2, temperature=0, **start), expected)
    lengths = (5,) if family == "decoder" else (5, 3)
    assert summary(compiled) == summary(model)
    assert describe_cost(compiled, *lengths) == describe_cost(model, *lengths)


PROMPT = torch.tensor([[2, 3]])


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        (
            {"max_new_tokens": 2.5},
            ValueError,
            "max_new_tokens must be a whole number of at least 0, but is 2.5",
        ),
        ({"top_k": 2.5}, ValueError, "top_k must be a whole number of at least 1, but is 2.5"),
        ({"seed": 2**70}, ValueError, "seed must be a whole number"),
        ({"stop": 3}, TypeError, "prompt and stop are tokens"),
        ({"prompt": "hola"}, TypeError, "prompt and stop are tokens"),
    ],
)
def test_options_that_are_none(options, kind, says):
    given = {"prompt": PROMPT, "max_new_tokens": 2, **options}
    with pytest.raises(kind, match=says):
        generate(run_of("decoder").model, **given)


def test_one_start_for_all():
    model = run_of("encoder_decoder").model
    expected = generate(model, PROMPT, 2, start=1, temperature=0)
    assert torch.equal(generate(model, PROMPT, 2, start=torch.tensor(1), temperature=0), expected)
    assert torch.equal(generate(model, PROMPT, 2, start=torch.tensor([1]), temperature=0), expected)
    with pytest.raises(ValueError, match=r"start has shape \(2, 1\); expected one token or a row of them"):
        generate(model, PROMPT.repeat(2, 1), 2, start=torch.tensor([[1], [2]]))


@pytest.mark.parametrize(
    "change", [{"d_model": 32.0}, {"d_model": "32"}, {"d_model": None}, {"vocabulary": 2.5}]
)
def test_sizes_that_are_no_whole_numbers(change):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        DecoderConfig(**{"vocabulary": 11, "max_length": 7, **change})
    with pytest.raises(ValueError, match="block must be a BlockConfig, but is None"):
        DecoderConfig(vocabulary=11, max_length=7, block=None)
    assert DecoderConfig(vocabulary=11, max_length=7, block=BlockConfig()).mlp_width == 128


def test_parts_that_nobody_knows_are_not_counted():
    for count in (summary, lambda model: describe_cost(model, 5)):
        with pytest.raises(TypeError, match=r"expected an Encoder, .* got Linear"):
            count(torch.nn.Linear(3, 2))
    with pytest.raises(ValueError, match="whole lengths of at least 0"):
        describe_cost(run_of("decoder").model, 2.5)
