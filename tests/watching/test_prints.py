"""What a person reads of a look: masked, tiny and absent are told apart."""

import torch

import mirada
from mirada import Mask

HOSTILE = ["</script><b>", "\n", "\u200d", "👩‍👩‍👧", "مرحبا", "x" * 300, "$x_1$"]


def decoded():
    """Five tokens read, then two written one at a time; keys so far apart that some weights are tiny."""
    layer = mirada.MultiHeadAttention(8, 2).eval()
    cache, x = mirada.KVCache(1, 2, 7, 4), 9 * torch.randn(1, 7, 8)
    with torch.no_grad(), mirada.watch(layer) as gaze:
        layer(x[:, :5], mask=Mask.causal(), cache=cache)
        layer(x[:, 5:6], mask=Mask.causal(), cache=cache)
        layer(x[:, 6:], mask=Mask.causal(), cache=cache)
    return gaze


def test_a_row_in_words():
    gaze = decoded()
    gaze.tokens = [*"abcdefg"]
    look = gaze[0]
    said = look.row(2, head=1, k=2)
    assert said.startswith("Row 2, 'c', head 1: '")
    assert said.endswith(", 1 more, 2 masked, 2 not there in its step")
    assert look.row(-1, head=0).count("%") == 7
    assert "masked" not in look.row(-1, head=0)


def test_a_weight_that_is_not_zero_is_not_written_as_zero():
    query, key = torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[0.0, 0.0], [-8.0, 0.0], [-200.0, 0.0]]]])
    module = torch.nn.Identity()

    class Given(torch.nn.Module):
        def forward(self, x):
            return mirada.attention(query, key, key, temperature=0.7)

    with mirada.watch(given := Given()) as gaze:
        given(module(query))
    assert (
        gaze[0].row(0, 0) == "Row 0, '2', head 0: '0' 100.0 %, '1' under 0.1 %, '2' 0 (too small for float32)"
    )


def test_a_row_that_may_look_at_nobody():
    layer, x = mirada.MultiHeadAttention(8, 2).eval(), torch.randn(2, 3, 8)
    with torch.no_grad(), mirada.watch(layer) as gaze:
        layer(x, mask=Mask.causal() & Mask.padding([3, 1], side="left"))
    assert gaze[0].row(0, 1, sample=1) == "Row 0, '0', head 1: looks at nobody; 3 masked"


def test_hostile_tokens_are_shown_as_text_on_one_line():
    gaze = decoded()
    gaze.tokens = HOSTILE
    said = gaze[0].row(6, 0)
    assert "\n" not in said
    assert all(repr(token) in said for token in HOSTILE)
    assert gaze[0].scene(0).columns == tuple(HOSTILE)


def test_tokens_name_only_looks_of_as_many_keys():
    gaze = decoded()
    gaze.tokens = ["one", "two"]
    assert gaze[0].scene(0).columns == tuple("0123456")
