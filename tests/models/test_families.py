"""The three families: the same as PyTorch's stacks, the lesson's figures, and what they refuse."""

import json
import math

import pytest
import torch
import torch.nn.functional as F
from small import (
    BATCH,
    EXACT,
    FAMILIES,
    KINDS,
    LENGTH,
    OUTPUTS,
    POSITIONS,
    SIZES,
    SOURCE,
    VOCABULARY,
    model_of,
    run_of,
    tokens,
)
from torch import nn

from mirada import BlockConfig, KVCache, Mask, to_torch
from mirada.models.config import DecoderConfig, EncoderConfig, EncoderDecoderConfig
from mirada.models.encoder import Encoder

REVERSE = {"vocabulary": 10, "max_length": 8, "d_model": 32, "num_heads": 2, "num_blocks": 1}


def shaken(model):
    """The model with every parameter moved: biases that are 0 and gains that are 1 would hide swaps."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def stack_of_pytorch(stack):
    """nn.TransformerEncoder or nn.TransformerDecoder with the weights of ours."""
    layers = [to_torch(block) for block in stack]
    kind = (
        nn.TransformerDecoder if isinstance(layers[0], nn.TransformerDecoderLayer) else nn.TransformerEncoder
    )
    options = {"enable_nested_tensor": False} if kind is nn.TransformerEncoder else {}
    theirs = kind(layers[0], len(layers), **options)
    theirs.layers = nn.ModuleList(layers)
    if stack.norm is not None:
        eps = stack.blocks[0].config.eps
        theirs.norm = nn.LayerNorm(SIZES["d_model"], eps=eps, dtype=torch.float64)
        theirs.norm.load_state_dict(stack.norm.state_dict())
    return theirs.eval()


def ahead(length):
    """PyTorch's table: True may NOT look."""
    return torch.ones(length, length).triu(1).bool()


def embedded(embedding, ids):
    """By hand: the vector of each token and that of its place."""
    rows = [
        [embedding.tokens.weight[t] + embedding.positions.weight[i] for i, t in enumerate(s)] for s in ids
    ]
    return torch.stack([torch.stack(row) for row in rows])


BLOCKS = {
    "pre-norm": BlockConfig(),
    "post-norm, gelu": BlockConfig(norm_first=False, activation="gelu"),
    "eps": BlockConfig(eps=1e-2),  # fast-transformers#103, transformers#18137
}


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("family", ["encoder", "decoder"])
def test_equals_a_stack_of_pytorchs_own_encoder_layers(family, block):
    model = shaken(model_of(family, block=BLOCKS[block]))
    ids, lengths = tokens(), torch.tensor([5, 3, 1])
    padded = torch.arange(LENGTH) >= lengths[:, None]
    future = ahead(LENGTH) if family == "decoder" else None
    theirs = stack_of_pytorch(model.stack)(embedded(model.embedding, ids), future, padded)
    expected = theirs @ model.output_proj.weight.T + model.output_proj.bias
    ours = model(ids, Mask.padding(lengths))
    for b in range(BATCH):
        torch.testing.assert_close(ours[b, : lengths[b]], expected[b, : lengths[b]], **EXACT)


@pytest.mark.parametrize("block", ["pre-norm", "post-norm, gelu"])
def test_equals_pytorchs_own_encoder_and_decoder_stacks(block):
    model = shaken(model_of("encoder_decoder", block=BLOCKS[block]))
    run = run_of("encoder_decoder")
    lengths = torch.tensor([2, 7, 4])
    padded = torch.arange(SOURCE) >= lengths[:, None]
    memory = stack_of_pytorch(model.encoder)(embedded(model.source_embedding, run.source), None, padded)
    target = embedded(model.target_embedding, run.target)
    theirs = stack_of_pytorch(model.decoder)(target, memory, ahead(LENGTH), memory_key_padding_mask=padded)
    expected = theirs @ model.output_proj.weight.T + model.output_proj.bias
    torch.testing.assert_close(model(run.source, run.target, Mask.padding(lengths)), expected, **EXACT)


def test_a_tied_model_reads_its_logits_with_the_embedding():
    model = shaken(model_of("decoder", tied=True))
    ids = tokens()
    x = model.embedding.tokens(ids) * math.sqrt(SIZES["d_model"]) + model.embedding.positions.weight
    expected = model.stack(x, mask=Mask.causal()) @ model.embedding.tokens.weight.T
    torch.testing.assert_close(model(ids), expected, **EXACT)


def test_the_lessons_parameters():
    assert sum(p.numel() for p in Encoder(EncoderConfig(**REVERSE)).parameters()) == 13_674
    bag = Encoder(EncoderConfig(**REVERSE, positions="none"))
    assert sum(p.numel() for p in bag.parameters()) == 13_418


def test_parameters_draw_their_first_values_in_the_lessons_order():
    torch.manual_seed(0)
    model = Encoder(EncoderConfig(**REVERSE))
    torch.manual_seed(0)
    by_hand = [nn.Embedding(10, 32), nn.Embedding(8, 32)]
    by_hand += [nn.Linear(32, out) for out in (96, 32)]
    by_hand += [nn.Linear(32, 128), nn.Linear(128, 32), nn.Linear(32, 10)]
    block = model.stack.blocks[0]
    ours = [model.embedding.tokens, model.embedding.positions, block.attention.qkv_proj]
    ours += [block.attention.output_proj, block.mlp.hidden_proj, block.mlp.output_proj, model.output_proj]
    for mine, expected in zip(ours, by_hand, strict=True):
        torch.testing.assert_close(mine.state_dict(), expected.state_dict(), rtol=0, atol=0)


def test_the_lessons_first_steps():
    # Half an epoch in the order of the data. A bag of words stays above 1.57, whatever it learns.
    drawn = torch.Generator().manual_seed(0)
    train = torch.randint(0, 10, (20000, 8), generator=drawn)
    assert train[0].tolist() == [4, 9, 3, 0, 3, 9, 7, 3]
    torch.manual_seed(0)
    model = Encoder(EncoderConfig(**REVERSE))
    optimizer, losses = torch.optim.Adam(model.parameters(), 1e-3), []
    for batch in train[: 157 * 64].split(64):
        loss = F.cross_entropy(model(batch).flatten(0, 1), batch.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) / 5 < 0.9


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("vocabulary", "d_model"), [(11, 32), (65, 128)])
def test_the_loss_starts_near_that_of_a_guess(vocabulary, d_model, family, positions, norm_first, tied):
    sizes = {"vocabulary": vocabulary, "max_length": 31}
    if family == "encoder_decoder":
        sizes = {"source_vocabulary": 13, "target_vocabulary": vocabulary, "source_length": 31}
        sizes["target_length"] = 31
    options = {"positions": positions, "tied": tied, "block": BlockConfig(norm_first=norm_first)}
    model = model_of(family, d_model=d_model, dtype=torch.float32, **sizes, **options)
    ids, targets = tokens(31, vocabulary, 17), tokens(31, vocabulary, 17)
    given = (tokens(31, 13, 17), ids) if family == "encoder_decoder" else (ids,)
    for wanted in (targets, ids):  # also where each place is to say its own token, which ties would know
        loss = F.cross_entropy(model(*given).flatten(0, 1), wanted.flatten()).item()
        assert abs(loss - math.log(vocabulary)) < (0.8 if tied and wanted is ids else 0.3)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_config_comes_back_from_json(family, kind):
    config = model_of(family, **KINDS[kind]).config
    assert type(config).from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_sizes_that_are_not_given():
    config = DecoderConfig(vocabulary=VOCABULARY, max_length=LENGTH, d_model=14)
    assert (config.num_outputs, config.mlp_width) == (VOCABULARY, 56)
    model = model_of("encoder", outputs=OUTPUTS)
    assert model(tokens()).shape == (BATCH, LENGTH, OUTPUTS)


@pytest.mark.parametrize("length", [LENGTH + 2, 97])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "none"])
def test_only_learned_positions_have_an_end(positions, length):
    assert model_of("decoder", positions=positions)(tokens(length)).shape == (BATCH, length, VOCABULARY)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"d_model": 0}, "d_model must be a whole number of at least 1, but is 0"),
        ({"vocabulary": -1}, "vocabulary must be a whole number of at least 1, but is -1"),
        ({"d_mlp": 0}, "d_mlp must be a whole number of at least 1, but is 0"),
        ({"positions": "rotating"}, "must be one of learned, sinusoidal, rotary, none, but is 'rotating'"),
        (
            {"tied": True, "outputs": 3},
            "tied needs as many outputs as tokens, but outputs=3 and vocabulary=11",
        ),
        ({"block": BlockConfig(cross_attention=True)}, r"leave block\.cross_attention out"),
    ],
)
def test_configs_that_are_none(options, says):
    with pytest.raises(ValueError, match=says):
        DecoderConfig(**{"vocabulary": VOCABULARY, "max_length": LENGTH, **options})


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"d_model=14 .*num_heads=3.*head_dim"):
        model_of("encoder", d_model=14, num_heads=3)
    with pytest.raises(ValueError, match="rotary positions turn pairs, so head_dim must be even, got 7"):
        model_of("encoder", d_model=14, num_heads=2, positions="rotary")
    with pytest.raises(ValueError, match="source_length must be a whole number of at least 1, but is 0"):
        EncoderDecoderConfig(source_vocabulary=2, target_vocabulary=2, source_length=0, target_length=1)


@pytest.mark.parametrize("family", ["encoder", "decoder"])
def test_tokens_that_are_none(family):
    model = model_of(family)
    with pytest.raises(ValueError, match=r"tokens run from 0 to 11, but the vocabulary is 0 to 10"):
        model(torch.tensor([[0, 11]]))
    with pytest.raises(ValueError, match=r"tokens run from -1 to 2"):
        model(torch.tensor([[2, -1]]))
    with pytest.raises(TypeError, match=r"tokens are torch\.float32; expected int64: write tokens\.long\(\)"):
        model(torch.rand(BATCH, LENGTH))
    with pytest.raises(ValueError, match=r"tokens must be \(batch, length\), but are \(5,\)"):
        model(tokens()[0])
    with pytest.raises(ValueError, match="length 6, but this table holds 5 positions"):
        model(tokens(6))


def test_rotary_places_reach_every_block():
    model, ids, places = model_of("decoder", positions="rotary"), tokens(), torch.tensor([0, 1, 4, 9, 11])
    x, expected = model.embedding.tokens(ids), model(ids, positions=places)
    for block in model.stack:
        x = block(x, mask=Mask.causal(), positions=places)
    torch.testing.assert_close(expected, model.output_proj(model.stack.norm(x)), **EXACT)
    torch.testing.assert_close(model(ids, positions=places + 7), expected, **EXACT)  # only distances count
    assert (model(ids) != expected)[:, 2:].any(-1).all()


def test_caches_that_do_not_fit():
    model = model_of("decoder")
    with pytest.raises(ValueError, match="expected 2 caches, one for each block, got 1"):
        model(tokens(), caches=[KVCache(BATCH, 2, 9, 6, dtype=torch.float64)])
