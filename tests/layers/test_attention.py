"""attention and attention_weights against loops in float64, against each other, and their gradients."""

import pytest
import torch
import torch.utils.checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from mirada import Mask, attention, attention_weights
from strategies import DTYPES, Case, attend, cases, close, shared_out, weigh


@given(cases())
def test_weights_are_those_of_the_loops(case: Case):
    weights = weigh(case.query, case.key, case.mask, temperature=case.temperature)
    assert weights.dtype == case.query.dtype
    wanted = reference.reference_weights(case.query, case.key, case.rule, case.temperature)
    close(weights, wanted, case.query.dtype)


@given(cases())
def test_output_is_that_of_the_loops(case: Case):
    output = attend(*case.inputs, case.mask, temperature=case.temperature)
    assert output.dtype == case.query.dtype
    close(output, reference.reference_attention(*case.inputs, case.rule, case.temperature), case.query.dtype)


@given(cases())
def test_rows_sum_to_one_or_to_nothing_and_masked_weights_are_exactly_zero(case: Case):
    weights = weigh(case.query, case.key, case.mask, temperature=case.temperature)
    wanted = reference.reference_weights(case.query, case.key, case.rule, case.temperature)
    somebody = (wanted.sum(-1) > 0).double()
    close(weights.double().sum(-1), somebody, case.query.dtype)
    shape = weights.shape
    for at in torch.cartesian_prod(*map(torch.arange, shape)).reshape(-1, len(shape)).tolist():
        if case.rule(tuple(at), tuple(shape)) == -torch.inf:
            assert weights[tuple(at)] == 0


@given(cases())
def test_weights_times_values_is_the_output_and_so_are_the_gradients(case: Case):
    """Both functions say the same, whatever the mask, the shape and the dtype."""
    fused, by_table = case.leaves(), case.leaves()
    output = attend(*fused, case.mask, temperature=case.temperature)
    query, key, value = by_table
    weights = weigh(query, key, case.mask, temperature=case.temperature)
    again = weights @ shared_out(value, query)
    close(output, again, case.query.dtype)
    upstream = torch.randn_like(output)
    for ours, theirs in zip(
        torch.autograd.grad(output, fused, upstream),
        torch.autograd.grad(again, by_table, upstream),
        strict=True,
    ):
        assert ours.isfinite().all()
        # Gradients add up over queries and heads, and a low temperature multiplies them.
        close(ours / 8 * case.temperature, theirs / 8 * case.temperature, case.query.dtype)


@settings(max_examples=40)
@given(cases(dtype=torch.float64))
def test_gradients_are_those_of_finite_differences(case: Case):
    leaves = case.leaves()
    assert torch.autograd.gradcheck(
        lambda *x: attention(*x, case.mask, temperature=case.temperature), leaves, fast_mode=True
    )
    if case.query.numel() and case.key.numel():
        assert torch.autograd.gradgradcheck(
            lambda q, k, v: weigh(q, k, case.mask, temperature=case.temperature) @ shared_out(v, q),
            leaves,
            fast_mode=True,
        )


@pytest.mark.parametrize("queries", [5, 1], ids=["square", "one query"])
def test_gradient_of_a_bias(queries):
    """A bias that asks for a gradient: what blocks gets none, what adds gets that of finite differences."""
    q, k, v = (torch.randn(2, 3, n, 7, dtype=torch.float64) for n in (queries, 5, 5))
    bias = torch.randn(3, queries, 5, dtype=torch.float64)
    bias[1, 0] = -torch.inf  # nobody to look at
    bias[0, 0, 2:] = -torch.inf
    open_ = bias.isfinite()
    free = bias[open_].clone().requires_grad_()

    def output(free):
        mask = Mask.bias(bias.masked_scatter(open_, free)) & Mask.causal()
        return attention(q, k, v, mask), attention_weights(q, k, mask)

    assert torch.autograd.gradcheck(output, [free])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_cut_into_blocks_of_rows_changes_nothing(dtype, rows, monkeypatch):
    """Every block has the keys and the piece of the mask that belong to it."""
    cut = [slice(start, min(start + rows, 7)) for start in range(0, 7, rows)]
    monkeypatch.setattr("mirada.layers.rows.blocks", lambda *_: cut)
    q, k, v = torch.randn(2, 4, 7, 5), torch.randn(2, 2, 11, 5), torch.randn(2, 2, 11, 3)
    q, k, v = (x.to(dtype).requires_grad_() for x in (q, k, v))
    table = torch.rand(2, 4, 7, 11) < 0.5
    for mask, rule in (
        (Mask.causal(), reference.causal()),
        (Mask.window(3), reference.window(3)),
        (Mask.causal() & Mask.window(2), reference.both(reference.causal(), reference.window(2))),
        (Mask.causal() & Mask.padding([9, 0]), reference.both(reference.causal(), reference.padding([9, 0]))),
        (Mask.allowed(table), reference.table(table, blocked=False)),
        (Mask.bias(table[0].float()), reference.table(table[0].float())),
    ):
        output = attention(q, k, v, mask)
        close(output, reference.reference_attention(q, k, v, rule), dtype)
        weights = attention_weights(q, k, mask)
        again = weights @ shared_out(v, q)
        upstream = torch.randn_like(output)
        for ours, theirs in zip(
            torch.autograd.grad(output, (q, k, v), upstream),
            torch.autograd.grad(again, (q, k, v), upstream),
            strict=True,
        ):
            close(ours / 8, theirs / 8, dtype)


# Four invariances. Each changes what must not matter and sees that it does not.


@given(cases(dtype=torch.float64, lengths=st.sampled_from([3, 5, 7])), st.data())
def test_the_future_changes_nothing(case: Case, data):
    """jadore801120/attention-is-all-you-need-pytorch#19, tensorflow/text#894: a leak shows itself here."""
    queries, keys = case.query.shape[-2], case.key.shape[-2]
    row = data.draw(st.integers(0, queries - 1))
    last = row + keys - queries  # the last key that this row may look at
    key, value = case.key.clone(), case.value.clone()
    if last + 1 < keys:
        key[..., max(last + 1, 0) :, :] += 100
        value[..., max(last + 1, 0) :, :] -= 100
    mask = Mask.causal() if case.mask is None else Mask.causal() & case.mask
    for of in (
        lambda k, v: attention(case.query, k, v, mask),
        lambda k, v: attention_weights(case.query, k, mask),
    ):
        assert torch.equal(of(case.key, case.value)[..., row, :], of(key, value)[..., row, :])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("content", [0.0, 1e10, -1e10, torch.inf, torch.nan])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("extra", ["", "causal", "bias"])
def test_what_is_in_the_padding_changes_nothing(dtype, content, side, extra):
    """pytorch#64525: NaN and infinity included, in output, weights and gradients, on both paths."""
    q, k, v = (torch.randn(3, 2, 5, 7).to(dtype) for _ in range(3))
    lengths = torch.tensor([3, 0, 5])
    mask = Mask.padding(lengths, side)
    if extra == "causal":
        mask = mask & Mask.causal()
    if extra == "bias":
        mask = mask & Mask.bias(torch.randn(5, 5))
    place = torch.arange(5)
    hidden = place >= lengths[:, None] if side == "right" else place < 5 - lengths[:, None]
    hidden = hidden[:, None, :, None]  # (batch, 1, keys, 1)
    results = []
    for filled in (0.0, content):
        leaves = [
            q.clone().requires_grad_(),
            *(x.masked_fill(hidden, torch.tensor(filled).to(dtype)).requires_grad_() for x in (k, v)),
        ]
        output, weights = attention(*leaves, mask), attention_weights(*leaves[:2], mask)
        loss = output.float().square().sum() + weights.float().square().sum()
        results.append([output, weights, *torch.autograd.grad(loss, leaves)])
    for plain, dirty in zip(*results, strict=True):
        assert plain.isfinite().all()
        assert torch.equal(plain, dirty)


@given(cases(dtype=torch.float64), st.randoms(use_true_random=False))
def test_the_order_of_the_batch_changes_nothing(case: Case, random):
    """Samples moved about, with their lengths; tables as they stand for all of the batch alike."""
    if case.query.dim() < 3:
        return
    order = list(range(case.query.shape[0]))
    random.shuffle(order)
    lengths = torch.tensor([random.randint(0, case.key.shape[-2]) for _ in order], dtype=torch.long)
    mask, moved = (Mask.causal() & Mask.padding(x) for x in (lengths, lengths[order]))
    close(
        attention(*case.inputs, mask)[order],
        attention(*(x[order] for x in case.inputs), moved),
        torch.float64,
    )
    close(
        attention_weights(case.query, case.key, mask)[order],
        attention_weights(case.query[order], case.key[order], moved),
        torch.float64,
    )


@given(cases(dtype=torch.float64))
def test_samples_do_not_see_each_other(case: Case):
    """The first sample alone, and beside others that were changed."""
    if case.query.dim() < 3 or case.query.shape[0] < 2:
        return
    changed = [torch.cat([x[:1], 100 * x[1:] + 7]) for x in case.inputs]
    assert torch.equal(attention(*case.inputs, case.mask)[0], attention(*changed, case.mask)[0])
    assert torch.equal(
        attention_weights(*case.inputs[:2], case.mask)[0], attention_weights(*changed[:2], case.mask)[0]
    )


def test_dropout_drops_its_share_and_keeps_the_mean():
    """pytorch#42929: dropout thins the weights that are used; attention_weights knows nothing of it."""
    q, k = torch.randn(1, 1, 11, 5), torch.randn(1, 1, 13, 5)
    v = torch.eye(13)[None, None]  # the output is the weights that were used
    weights = attention_weights(q, k, Mask.causal())
    used = torch.stack([attention(q, k, v, Mask.causal(), dropout=0.25) for _ in range(2000)])
    dropped = ((used == 0) & (weights > 0)).float().mean(0)[weights > 0]
    assert abs(dropped.mean().item() - 0.25) < 0.005  # of 2000 × 88 draws: five standard deviations
    kept = used[used > 0] * 0.75
    torch.testing.assert_close(kept, weights.expand_as(used)[used > 0])  # scaled up by 1 / 0.75
    assert torch.equal(attention(q, k, v, Mask.causal(), dropout=0.0), attention(q, k, v, Mask.causal()))


@pytest.mark.parametrize("mask", [None, Mask.causal(), Mask.causal() & Mask.padding([0, 3])], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dropout_keeps_rows_with_nobody_at_zero_and_gradients_finite(mask, dtype):
    leaves = [torch.randn(2, 3, 5, 7).to(dtype).requires_grad_() for _ in range(3)]
    output = attention(*leaves, mask, dropout=0.5)
    for gradient in torch.autograd.grad(output.float().square().sum(), leaves):
        assert gradient.isfinite().all()
    if mask is not None and len(mask.parts) == 2:
        assert (output[0] == 0).all()
    assert (attention(*leaves, mask, dropout=1.0) == 0).all()


@pytest.mark.parametrize("mask", [Mask.causal() & Mask.padding([0, 400]), Mask.window(3)], ids=repr)
@pytest.mark.parametrize("checkpointed", [False, True])
def test_gradients_over_several_blocks(mask, checkpointed):
    """The backward pass makes its pieces of the mask anew, or leaves that to who recomputes all."""
    leaves = [torch.randn(2, 2, 521, 3, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    if checkpointed:
        output = torch.utils.checkpoint.checkpoint(attention, *leaves, mask, use_reentrant=False)
    else:
        output = attention(*leaves, mask)
    again = attention_weights(*leaves[:2], mask) @ leaves[2]
    upstream = torch.randn_like(output)
    close(output, again, torch.float64)
    for ours, theirs in zip(
        torch.autograd.grad(output, leaves, upstream),
        torch.autograd.grad(again, leaves, upstream),
        strict=True,
    ):
        close(ours, theirs, torch.float64)
