"""A layer that remembers what it read says the same as one that reads it all again."""

import pytest
import torch

from mirada import KVCache, Mask, MultiHeadAttention, RotaryPositions

BATCH, LENGTH, D_MODEL, HEADS, GROUPS, HEAD_DIM = 2, 7, 13, 6, 2, 10
CLOSE = {
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
    torch.float32: {"rtol": 1e-5, "atol": 1e-6},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}
KINDS = {
    "plain": lambda: {"num_heads": HEADS, "head_dim": HEAD_DIM},
    "grouped": lambda: {"num_heads": HEADS, "num_kv_heads": GROUPS, "head_dim": HEAD_DIM},
    "rotary": lambda: {
        "num_heads": HEADS,
        "num_kv_heads": GROUPS,
        "head_dim": HEAD_DIM,
        "rotary": RotaryPositions(HEAD_DIM),
    },
}


def build(kind="rotary", dtype=torch.float64, max_length=11):
    torch.manual_seed(3)
    layer = MultiHeadAttention(D_MODEL, **KINDS[kind](), dtype=dtype).eval()
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=dtype)
    return layer, x, KVCache(BATCH, layer.num_kv_heads, max_length, HEAD_DIM, dtype=dtype)


# TinyLLM#17: a prompt in one go is [7]. x-transformers#187, #219, torchtune#959, litgpt#298: word by word.
@pytest.mark.parametrize("steps", [[7], [1] * 7, [5, 1, 1], [2, 3, 2], [3, 0, 4]], ids=str)
@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [None, 3])
def test_equals_the_full_forward_at_each_step(window, kind, dtype, steps):
    layer, x, cache = build(kind, dtype)
    mask = Mask.causal() if window is None else Mask.causal() & Mask.window(window)
    with torch.no_grad():
        output, weights = layer(x, mask=mask), layer.weights(x, mask=mask)
        start = 0
        for step in steps:
            stop = start + step
            part = x[:, start:stop]
            seen = layer.weights(part, mask=mask, cache=cache)
            torch.testing.assert_close(seen, weights[:, :, start:stop, :stop], **CLOSE[dtype])
            torch.testing.assert_close(
                layer(part, mask=mask, cache=cache), output[:, start:stop], **CLOSE[dtype]
            )
            assert cache.length == stop
            start = stop


def test_one_query_sees_all_eight_keys():
    # pytorch#103082, pytorch#108108, pytorch#144858: 1 query, 8 keys, causal: the query is the last one.
    layer, x, cache = build("plain")
    x = torch.randn(BATCH, 8, D_MODEL, dtype=torch.float64)
    with torch.no_grad():
        layer(x[:, :7], mask=Mask.causal(), cache=cache)
        weights = layer.weights(x[:, 7:], mask=Mask.causal(), cache=cache)
    assert weights.shape == (BATCH, HEADS, 1, 8)
    assert (weights > 0).all()


def test_asking_for_weights_does_not_advance_the_cache():
    layer, x, cache = build()
    with torch.no_grad():
        layer(x[:, :3], mask=Mask.causal(), cache=cache)
        before = cache.key.clone(), cache.value.clone()
        once = layer.weights(x[:, 3:], mask=Mask.causal(), cache=cache)
        again = layer.weights(x[:, 3:], mask=Mask.causal(), cache=cache)
    assert torch.equal(once, again)
    assert cache.length == 3
    assert torch.equal(cache.key, before[0])
    assert torch.equal(cache.value, before[1])


def test_a_call_that_fails_leaves_the_cache_as_it_was():
    layer, x, cache = build()
    with torch.no_grad():
        layer(x[:, :3], cache=cache)
        with pytest.raises(ValueError, match=r"Mask\.allowed .*\(5, 3\)"):
            layer(x[:, 3:5], mask=Mask.allowed(torch.ones(5, 3, dtype=torch.bool)), cache=cache)
        assert cache.length == 3
        output = layer(x[:, 3:], mask=Mask.causal(), cache=cache)
        torch.testing.assert_close(output, layer(x, mask=Mask.causal())[:, 3:], **CLOSE[torch.float64])


@pytest.mark.parametrize("steps", [[7], [1] * 7, [4, 1, 1, 1]], ids=str)
def test_left_padding_equals_each_sample_alone(steps):
    # transformers#3021, keras-hub#571, nnsight#673. Lengths count keys: they grow as the cache does.
    layer, _, cache = build()
    samples = [torch.randn(1, 7, D_MODEL).double(), torch.randn(1, 4, D_MODEL).double()]
    x = torch.full((2, 7, D_MODEL), 1e3, dtype=torch.float64)  # what stands in the padding means nothing
    x[:1], x[1:, 3:] = samples[0], samples[1]
    positions = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 1, 2, 3]])
    with torch.no_grad():
        alone = [layer(sample, mask=Mask.causal()) for sample in samples]
        parts, start = [], 0
        for step in steps:
            stop = start + step
            lengths = torch.tensor([stop, max(stop - 3, 0)])
            mask = Mask.causal() & Mask.padding(lengths, side="left")
            options = {"mask": mask, "cache": cache, "positions": positions[:, start:stop]}
            parts.append(layer(x[:, start:stop], **options))
            start = stop
    together = torch.cat(parts, dim=1)
    torch.testing.assert_close(together[:1], alone[0], **CLOSE[torch.float64])
    torch.testing.assert_close(together[1:, 3:], alone[1], **CLOSE[torch.float64])


def test_padding_in_a_later_step_keeps_what_it_holds_to_itself():
    # pytorch#64525
    layer, x, cache = build("grouped")
    lengths = torch.tensor([5, 7])
    with torch.no_grad():
        full = layer(x, mask=Mask.causal() & Mask.padding(lengths))
        layer(x[:, :3], mask=Mask.causal(), cache=cache)
        x[0, 5:] = float("nan")
        rest = layer(x[:, 3:], mask=Mask.causal() & Mask.padding(lengths), cache=cache)
    assert rest.isfinite().all()
    assert cache.value.isfinite().all()
    torch.testing.assert_close(rest[0, :2], full[0, 3:5], **CLOSE[torch.float64])
    torch.testing.assert_close(rest[1], full[1, 3:], **CLOSE[torch.float64])


def test_hands_out_only_what_was_filled():
    cache = KVCache(2, 3, 7, 5)
    assert cache.key.shape == cache.value.shape == (2, 3, 0, 5)
    first, second = torch.randn(2, 3, 2, 5), torch.randn(2, 3, 1, 5)
    cache.append(first, 2 * first)
    key, value = cache.append(second, 2 * second)
    expected = torch.cat([first, second], dim=2)
    assert torch.equal(key, expected)
    assert torch.equal(value, 2 * expected)
    assert torch.equal(cache.key, expected)
    assert torch.equal(cache.value, 2 * expected)
    assert cache.length == 3


def test_memory_is_set_aside_once():
    cache = KVCache(2, 3, 7, 5)
    places = {cache.append(torch.randn(2, 3, 1, 5), torch.randn(2, 3, 1, 5))[0].data_ptr() for _ in range(7)}
    assert places == {cache.key.data_ptr()}


def test_placing_does_not_count():
    cache = KVCache(2, 3, 7, 5)
    new = torch.randn(2, 3, 2, 5)
    key, value = cache.place(new, -new)
    assert torch.equal(key, new)
    assert torch.equal(value, -new)
    assert cache.length == 0
    assert cache.key.shape[2] == 0


def test_a_full_cache_says_so_and_keeps_what_it_has():
    cache = KVCache(2, 3, 4, 5)
    new = torch.randn(2, 3, 3, 5)
    cache.append(new, new)
    with pytest.raises(ValueError, match=r"holds 3 of 4 places and was given 2 more; .*max_length=5"):
        cache.append(new[:, :, :2], new[:, :, :2])
    assert cache.length == 3
    assert torch.equal(cache.key, new)
    cache.append(new[:, :, :1], new[:, :, :1])  # exactly full is allowed
    assert cache.length == 4


def test_reset_starts_again():
    layer, x, cache = build()
    with torch.no_grad():
        first = layer(x, mask=Mask.causal(), cache=cache)
        cache.reset()
        assert cache.length == 0
        assert torch.equal(layer(x, mask=Mask.causal(), cache=cache), first)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ((3, 3, 1, 5), (3, 3, 1, 5), r"key of shape .*\(2, 3, any, 5\), but was given \(3, 3, 1, 5\)"),
        ((1, 3, 1, 5), (1, 3, 1, 5), r"\(1, 3, 1, 5\)"),
        ((2, 1, 1, 5), (2, 1, 1, 5), r"\(2, 1, 1, 5\)"),
        ((2, 3, 1, 7), (2, 3, 1, 7), r"\(2, 3, 1, 7\)"),
        ((2, 3, 5), (2, 3, 5), r"\(2, 3, 5\)"),
        ((2, 3, 1, 5), (2, 3, 1, 1), r"value of shape .*\(2, 3, 1, 1\)"),
        ((2, 3, 1, 5), (2, 3, 2, 5), "one length, but are 1 and 2 long"),
    ],
)
def test_other_shapes(key, value, says):
    cache = KVCache(2, 3, 7, 5)
    with pytest.raises(ValueError, match=says):
        cache.append(torch.randn(key), torch.randn(value))
    assert cache.length == 0


def test_another_dtype():
    cache = KVCache(2, 3, 7, 5, dtype=torch.float16)
    assert cache.key.dtype == torch.float16
    with pytest.raises(ValueError, match=r"torch\.float16 on cpu, but was given torch\.float32 on cpu"):
        cache.append(torch.randn(2, 3, 1, 5), torch.randn(2, 3, 1, 5))


def test_another_device():
    cache = KVCache(2, 3, 7, 5, device="meta")
    with pytest.raises(ValueError, match=r"on meta, but was given torch\.float32 on cpu"):
        cache.append(torch.randn(2, 3, 1, 5), torch.randn(2, 3, 1, 5))


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ((-1, 3, 7, 5), "batch must be a whole number of at least 0, but is -1"),
        ((2, 0, 7, 5), "num_kv_heads"),
        ((2, 3, 0, 5), "max_length must be a whole number of at least 1, but is 0"),
        ((2, 3, 7, 0), "head_dim"),
        ((2, 3, 7.5, 5), "max_length .* 7.5"),
    ],
)
def test_sizes_that_are_none(sizes, says):
    with pytest.raises(ValueError, match=says):
        KVCache(*sizes)


@pytest.mark.parametrize("d_context", [14, 11])
@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 1}, {"bias": False}])
def test_a_context_is_read_once(d_context, options):
    layer = MultiHeadAttention(14, 2, d_context=d_context, **options).double()
    x, context = torch.randn(3, 5, 14).double(), torch.randn(3, 7, d_context).double()
    context[1, 4:] = torch.nan  # what stands in the padding is not read
    mask, cache = Mask.padding([7, 4, 2]), KVCache(3, layer.num_kv_heads, 7, 7, dtype=torch.float64)
    with torch.no_grad():
        expected = layer(x, context, mask)
        found = [layer(x[:, i : i + 1], context, mask, cache=cache) for i in range(5)]
        torch.testing.assert_close(torch.cat(found, 1), expected, rtol=1e-12, atol=1e-12)
        assert cache.length == 7
        again = layer(x, torch.full_like(context, torch.nan), mask, cache=cache)
        torch.testing.assert_close(again, expected, rtol=1e-12, atol=1e-12)
        shown = layer.weights(x, context, mask, cache=cache)
        torch.testing.assert_close(shown, layer.weights(x, context, mask), rtol=1e-12, atol=1e-12)
        cache.reset()
        layer.weights(x, context, mask, cache=cache)
        assert cache.length == 0, "asking does not advance it"
        assert torch.equal(layer(x, context, mask, cache=cache), expected)


def test_a_cache_of_one_context_is_refused_for_another_length():
    layer, cache = MultiHeadAttention(14, 2), KVCache(2, 2, 9, 7)
    x = torch.randn(2, 5, 14)
    with torch.no_grad():
        layer(x, torch.randn(2, 7, 14), cache=cache)
        with pytest.raises(ValueError, match=r"cache holds 7 places, .* has 5: .* that one context"):
            layer(x, x, cache=cache)
    assert cache.length == 7


def test_with_gradients_the_last_step_can_be_gone_back_through():
    layer, x, cache = build("plain")
    with torch.no_grad():
        layer(x[:, :5], mask=Mask.causal(), cache=cache)
    last = layer(x[:, 5:], mask=Mask.causal(), cache=cache)
    last.square().sum().backward()
    ours = layer.qkv_proj.weight.grad.clone()

    layer.zero_grad()  # the same, without a cache: the first five words are held fixed
    joint = torch.cat([layer.qkv_proj(x[:, :5]).detach(), layer.qkv_proj(x[:, 5:])], dim=1)
    query, key, value = (
        part.unflatten(-1, (HEADS, HEAD_DIM)).transpose(1, 2) for part in joint.chunk(3, dim=-1)
    )
    weights = query[:, :, 5:] @ key.mT / HEAD_DIM**0.5
    weights = weights.masked_fill(~torch.ones(2, 7, dtype=torch.bool).tril(5), float("-inf")).softmax(-1)
    layer.output_proj((weights @ value).transpose(1, 2).flatten(2)).square().sum().backward()
    torch.testing.assert_close(ours, layer.qkv_proj.weight.grad, rtol=1e-10, atol=1e-10)


def test_with_gradients_an_earlier_step_is_refused_not_wrong():
    layer, x, cache = build("plain")
    first = layer(x[:, :5], mask=Mask.causal(), cache=cache)
    layer(x[:, 5:], mask=Mask.causal(), cache=cache)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        first.sum().backward()
    cache.reset()
    assert not cache.key.requires_grad


def test_says_how_full_it_is():
    cache = KVCache(2, 3, 7, 5)
    cache.append(torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5))
    assert repr(cache) == "KVCache(batch=2, num_kv_heads=3, head_dim=5, filled 4 of 7, torch.float32, cpu)"
