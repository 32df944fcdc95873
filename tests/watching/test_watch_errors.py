"""Each error says what was wrong, what was expected, and what to do."""

import gc

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from watched import Calls, seen

import mirada
from mirada import Mask, MultiHeadAttention, NothingSeen

X = torch.linspace(-1, 1, 2 * 5 * 12).reshape(2, 5, 12)


class Stack(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.layers = nn.ModuleList([MultiHeadAttention(12, 3) for _ in range(depth)])
        self.head = nn.Linear(12, 7)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def watch(model, *args, call=True, **kwargs):
    with mirada.watch(model, *args, **kwargs) as gaze:
        if call:
            model(X)
    return gaze


def test_not_a_module():
    with pytest.raises(TypeError, match=r"model is a function; expected a torch\.nn\.Module"):
        watch(lambda x: x)


# chatterbox#398: one layer only, by name or pattern; a pattern that matches nothing is an error.
@pytest.mark.parametrize("modules", ["layers.7", "layer", ["layers.0", "decoder.*"]])
def test_a_pattern_that_matches_nothing(modules):
    wrong = modules if isinstance(modules, str) else modules[-1]
    with pytest.raises(ValueError, match="matches no module of this Stack; its modules are head") as said:
        watch(Stack(), modules)
    assert repr(wrong) in str(said.value)


@pytest.mark.parametrize("modules", ["head", ["layers.0", "head"]])
def test_a_pattern_whose_modules_call_no_attention(modules):
    with pytest.raises(NothingSeen, match=r"none of these( modules)? called attention") as said:
        watch(Stack(), modules)
    assert "layers.1" in str(said.value)  # those that did


# transformers#22469: only the layer that is wanted is kept.
def test_one_layer_only():
    model = Stack()
    gaze = watch(model, "layers.1")
    assert [look.path for look in gaze] == ["layers.1"]
    assert gaze.memory == 2 * X.numel() * 4
    assert [look.path for look in watch(model, "layers.[02]")] == ["layers.0", "layers.2"]
    assert [look.path for look in watch(model, ["layers.2", "*.0"])] == ["layers.0", "layers.2"]


@pytest.mark.parametrize("heads", [3, [0, 3], -1])
def test_a_head_that_does_not_exist(heads):
    with pytest.raises(ValueError, match=r"heads has (3|-1), but layers\.0 has heads 0 to 2"):
        watch(Stack(), heads=heads)


def test_heads_and_rows_of_a_look():
    look = watch(Stack(), heads=[0, 2])[0]
    with pytest.raises(ValueError, match=r"head 1 is not there: layers\.0 has heads 0, 2"):
        look.weights(heads=1)
    for row in (5, -6):
        with pytest.raises(ValueError, match=f"layers.0: row {row} is not there: there are 5, 0 to 4"):
            look.weights(rows=[0, row])
    with pytest.raises(ValueError, match="sample 2 is not there"):
        look.scene(0, sample=2)
    assert torch.equal(look.weights(2, -1), look.weights()[:, 1:, 4:])


# vit-explain#23, #27: nothing captured is an error at once, not an IndexError later.
def test_no_attention_in_the_model():
    model = nn.Sequential(nn.Linear(12, 12), nn.ReLU())
    with pytest.raises(NothingSeen, match=r"nothing was seen in Sequential: .* none of its 3 modules called"):
        watch(model)
    with pytest.raises(NothingSeen, match="Was it called"):
        watch(Stack(), call=False)
    assert issubclass(NothingSeen, ValueError)


def hidden(self, x):
    """By hand, and so that nobody can follow it."""
    scores = torch.einsum("bid,bjd->bij", x, x)
    return torch.softmax(torch.stack([scores.sin(), scores.cos()], 1), -1).mean(1) @ x


def test_attention_by_hand_is_listed_by_module():
    model = nn.Sequential(nn.Linear(12, 12), Calls(hidden))
    with pytest.raises(NothingSeen, match=r"1: .*2 × 2 × 5 × 5.*mirada\.record"):
        watch(model)
    partly = nn.Sequential(MultiHeadAttention(12, 3), Calls(hidden))
    gaze = watch(partly)
    assert [path for path, _ in gaze.unseen] == ["1"]
    assert "Not seen: 1: " in repr(gaze)
    assert len(gaze) == 1


def test_record():
    def by_hand(self, x):
        weights = torch.softmax(x @ x.mT * 0.3 + 2 * torch.eye(5), -1)
        output = weights @ x
        given = {"value": x, "output": output} if self.proof else {}
        mirada.record(x, x, Mask.bias(2 * torch.eye(5)), scale=0.3, **given)
        return weights, output

    for proof in (True, False):
        model = Calls(by_hand)
        model.proof = proof
        model(X)  # outside of a watch it does nothing
        gaze = watch(model)
        look = gaze[-1]
        assert look.proved is (True if proof else None)
        assert proof or "nothing to compare" in look.note
        torch.testing.assert_close(look.weights()[:, 0], model(X)[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "says"),
    [
        ((X, X[..., :7]), {}, ValueError, "key has shape"),
        ((X, X[:, :3]), {"value": X, "output": X}, ValueError, "value has shape"),
        ((X, X), {"value": X, "output": X[:, :3]}, ValueError, r"output has shape \(2, 3, 12\); expected"),
        ((X, X), {"value": X}, ValueError, "value and output prove a look together"),
        ((X, X, torch.ones(5, 5).bool()), {}, TypeError, r"expected a mirada\.Mask"),
        ((X, X, Mask.allowed(torch.ones(3, 5).bool())), {}, ValueError, "does not broadcast"),
        ((X.long(), X), {}, TypeError, "floating point"),
        ((X, X), {"temperature": 0.0}, ValueError, "temperature is 0"),
    ],
)
def test_record_with_what_does_not_fit(args, kwargs, error, says):
    model = Calls(lambda self, x: mirada.record(*args, **kwargs))
    with pytest.raises(error, match=says):
        watch(model)


@pytest.mark.parametrize(
    ("make", "args"),
    [
        (lambda: nn.MultiheadAttention(12, 3), 3),
        (lambda: nn.TransformerEncoderLayer(12, 3, 20).eval(), 1),
        (lambda: MultiHeadAttention(12, 3), 1),
        (lambda: Calls(lambda self, x: F.scaled_dot_product_attention(x, x, x, attn_mask=x @ x.mT)), 1),
    ],
)
def test_a_model_without_numbers(make, args):
    with torch.device("meta"):
        model, x = make(), torch.empty(5, 2, 12)
    others = [x.clone() for _ in range(args)]
    with (
        pytest.raises(ValueError, match=r"is on the meta device.*move it to a real device"),
        mirada.watch(model),
    ):
        model(*others)


def test_a_model_on_two_devices():
    """The parts with numbers are seen; PyTorch itself says which tensors are on two devices."""
    parts = {"here": MultiHeadAttention(12, 3), "there": MultiHeadAttention(12, 3, device="meta")}
    model = Calls(lambda self, x: self.here(x) + 0 * self.there(x.to("meta")).sum().isnan(), **parts)
    with pytest.raises(ValueError, match="meta device"), mirada.watch(model) as gaze:
        model(X)
    assert [look.path for look in gaze] == ["here"]
    assert gaze.proved


def test_a_model_that_is_gone():
    def leave():
        model = Stack()
        with mirada.watch(model):
            del model
            gc.collect()

    with pytest.raises(NothingSeen, match="the Stack that was watched is gone: keep it"):
        leave()


def test_the_memory_that_was_allowed():
    model = Stack()
    one = 2 * X.numel() * 4  # queries and keys of one layer
    says = rf"at layers\.1 the gaze holds .*memory={one} allows .*modules=.*heads="
    with pytest.raises(ValueError, match=says):
        watch(model, memory=one)
    assert len(watch(model, memory=3 * one)) == 3
    assert watch(model, memory=one, heads=0).memory == one
    table = torch.zeros(2, 3, 5, 5)  # a mask that layers share is counted once

    def run(self, x):
        y = x.unflatten(-1, (3, 4)).transpose(1, 2)
        for part in self.parts:
            part(y)

    shared = nn.ModuleList(
        [Calls(lambda self, y: F.scaled_dot_product_attention(y, y, y, table)) for _ in range(4)]
    )
    assert watch(Calls(run, parts=shared), memory=4 * one + 2 * 3 * 5 * 5).memory <= 4 * one + 2 * 3 * 5 * 5


def test_a_table_that_is_too_large():
    x = torch.zeros(1, 1, 40_000, 2)
    look = seen(Calls(lambda self, q: mirada.attention(q, x[:, :, :3], x[:, :, :3])), x)[0]
    call = look.calls[0]
    object.__setattr__(call, "key", x)
    object.__setattr__(call, "shape", (1, 1, 40_000, 40_000))
    with pytest.raises(ValueError, match=r"1 × 1 × 40000 × 40000 weights takes 6\.4 GB: ask for fewer"):
        look.weights()
    assert look.weights(rows=range(3)).shape == (1, 1, 3, 40_000)


class Doubles(torch.overrides.TorchFunctionMode):
    """A kernel that does something else than its name says."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        output = func(*args, **(kwargs or {}))
        return 2 * output if func is F.scaled_dot_product_attention else output


def test_what_does_not_fit_is_marked():
    x = X.unflatten(-1, (3, 4)).transpose(1, 2)
    model = Calls(lambda self, x: F.scaled_dot_product_attention(x, x, x))
    with Doubles():
        gaze = seen(model, x)
    assert gaze.proved is False
    assert gaze[0].proved is False
    assert "NOT PROVED" in repr(gaze)
    assert "do not trust" in repr(gaze)
    assert "NOT PROVED" in repr(gaze[0])
    assert "differs from the model's output" in gaze[0].note
    assert gaze.error > 0.1
