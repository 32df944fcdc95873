"""Watches beside, inside and across one another; and whatever happens, the process is as it was before."""

import asyncio
import contextvars
import gc
import inspect
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode
from watched import Calls, flat, same, seen

import mirada
from mirada import Mask, MultiHeadAttention
from mirada.watching.call import Call
from mirada.watching.watcher import thread, watching


def everything() -> list:
    """All that a watch may touch, as objects."""
    modules = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder, Layer)
    return [
        F.scaled_dot_product_attention,
        F.multi_head_attention_forward,
        F.softmax,
        torch.softmax,
        torch._native_multi_head_attention,
        torch._transformer_encoder_layer_fwd,
        torch.compile,
        *(module.forward for module in modules),
        *(inspect.getattr_static(nn.Module, name) for name in ("forward", "__call__")),
        *torch.overrides._get_current_function_mode_stack(),
        watching.get(),
        thread.quiet,
        thread.inner,
        torch.compiler.is_compiling(),
        torch._dynamo.eval_frame._stance.stance,
    ]


class Layer(nn.Module):
    """PyTorch's layer, with something of somebody's own before it."""

    def __init__(self):
        super().__init__()
        self.mine = MultiHeadAttention(12, 3)
        self.theirs = nn.MultiheadAttention(12, 2, batch_first=True)
        self.encoder = nn.TransformerEncoderLayer(12, 2, 20, batch_first=True)

    def forward(self, x, stop=False):
        x = self.mine(x)
        if stop:
            raise KeyError("stop")
        return self.encoder(self.theirs(x, x, x)[0])


class Other(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def _as_before():
    before = everything()
    yield
    after = everything()
    assert len(after) == len(before)
    assert all(a is b or a == b for a, b in zip(after, before, strict=True))


# TransformerLens#1795: also after an exception.
@pytest.mark.parametrize("ending", ["well", "raises", "keyboard", "nothing", "wrong head"])
def test_all_is_put_back(ending):
    before, model, x = everything(), Layer().eval(), torch.randn(2, 5, 12)
    if ending == "well":
        seen(model, x)
    elif ending == "raises":
        with pytest.raises(KeyError, match="stop"), mirada.watch(model):
            model(x, stop=True)
    elif ending == "keyboard":
        with pytest.raises(KeyboardInterrupt), mirada.watch(model):
            raise KeyboardInterrupt
    elif ending == "nothing":
        with pytest.raises(mirada.NothingSeen), mirada.watch(model):
            pass
    else:
        with pytest.raises(ValueError, match="heads 0 to 2"), mirada.watch(model, heads=3):
            model(x)
    assert all(a is b or a == b for a, b in zip(everything(), before, strict=True))


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_watches_that_overlap_in_one_thread(first_leaves_first):
    """Two generators, each with a watch, leave in any order."""

    def watched(model):
        with mirada.watch(model) as gaze:
            yield gaze

    one, two, x = Layer().eval(), Layer().eval(), torch.randn(2, 5, 12)
    watches = [watched(one), watched(two)]
    gazes = [next(w) for w in watches]
    expected = one(x), two(x)
    assert [len(g) for g in gazes] == [3, 3]
    leaving = watches if first_leaves_first else watches[::-1]
    next(leaving[0], None)
    stays = 1 if first_leaves_first else 0
    assert same((one, two)[stays](x), expected[stays])
    assert len(gazes[stays].runs) == 2
    assert len(gazes[1 - stays].runs) == 1
    next(leaving[1], None)
    assert watching.get() == ()


def test_a_mode_that_stays_on_top_of_a_watch_that_leaves():
    def watched(model):
        with mirada.watch(model) as gaze:
            yield gaze

    layer, other = MultiHeadAttention(12, 3), Other()
    generator = watched(layer)
    next(generator)
    with other:
        layer(torch.randn(2, 5, 12))
        next(generator, None)
        assert torch.overrides._get_current_function_mode_stack() == [other]


def test_one_inside_the_other_and_one_model_twice():
    model, x = Layer().eval(), torch.randn(2, 5, 12)
    with mirada.watch(model) as outer:
        model(x)
        with mirada.watch(model, "mine", heads=1) as inner, mirada.watch(model.mine) as part:
            model(x)
        model(x)
    assert [len(g.runs) for g in (outer, inner, part)] == [3, 1, 1]
    assert [len(g) for g in (outer, inner, part)] == [3, 1, 1]
    assert (inner[0].path, part[0].path, inner[0].heads) == ("mine", "", (1,))
    assert torch.equal(inner[0].weights(), part[0].weights(heads=1))


def test_tasks_of_asyncio_do_not_mix():
    models, x = [Layer().eval() for _ in range(3)], torch.randn(2, 5, 12)
    expected = [flat(model(x))[0] for model in models]

    async def look(i):
        with mirada.watch(models[i]) as gaze:
            await asyncio.sleep(0.001 * (3 - i))
            output = models[i](x)
            await asyncio.sleep(0.001 * i)
            models[(i + 1) % 3](x)  # somebody else's
        return gaze, output

    async def unwatched():
        await asyncio.sleep(0.001)
        return models[0](x)

    async def all_of_them():
        return await asyncio.gather(look(0), look(1), look(2), unwatched())

    *found, last = asyncio.run(all_of_them())
    for (gaze, output), wanted in zip(found, expected, strict=True):
        assert same(output, wanted)
        assert (len(gaze.runs), len(gaze)) == (1, 3)
        assert gaze.proved
    assert same(last, expected[0])


@pytest.mark.parametrize("same_model", [True, False])
def test_two_threads_never_mix(same_model):
    model = Layer().eval()
    models = [model, model if same_model else Layer().eval()]
    meet = threading.Barrier(2)

    def look(i):
        x = torch.full((1, 3 + 2 * i, 12), 0.1) + torch.arange(12.0)
        expected = models[i](x)
        meet.wait()
        with mirada.watch(models[i]) as gaze:
            for _ in range(5):
                meet.wait()
                assert same(models[i](x), expected)
            if i == 0:
                meet.wait()  # the other leaves before
        if i == 1:
            meet.wait()
        return gaze

    with ThreadPoolExecutor(2) as pool:
        gazes = list(pool.map(look, range(2)))
    for i, gaze in enumerate(gazes):
        assert len(gaze.runs) == 5
        assert {look.rows for run in gaze.runs for look in run} == {3 + 2 * i}
        assert gaze.proved


@pytest.mark.parametrize("carried", [True, False], ids=["with the context", "without"])
def test_a_worker_thread_inside_a_watch_is_not_seen(carried):
    model, x = Layer().eval(), torch.randn(2, 5, 12)

    def work():
        run = contextvars.copy_context().run if carried else lambda f, *args: f(*args)
        worker = threading.Thread(target=run, args=(model, x))
        worker.start()
        worker.join()

    with pytest.raises(mirada.NothingSeen, match="in this thread"), mirada.watch(model):
        work()


def test_two_hundred_watches_keep_memory_flat():
    model, x = Layer().eval(), torch.randn(2, 31, 12)

    def watch(times):
        for _ in range(times):
            with mirada.watch(model) as gaze:
                model(x)
            gaze[0].weights()

    tracemalloc.start()
    watch(20)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    watch(200)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 50_000
    assert not [x for x in gc.get_objects() if type(x) is Call]


def test_a_gaze_does_not_hold_the_model():
    model = Layer()
    with mirada.watch(model) as gaze:
        model(torch.randn(2, 5, 12))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert gaze[0].weights().shape == (2, 3, 5, 5)  # it stands on its own
    assert "Layer" in repr(gaze)


def test_what_a_watch_keeps_is_its_own():
    """Inputs changed in place after the call do not change what was seen."""
    layer = Calls(lambda self, q, k, m: F.scaled_dot_product_attention(q, k, k, m))
    query, key, table = torch.randn(2, 3, 5, 7), torch.randn(2, 3, 5, 7), torch.ones(5, 5, dtype=torch.bool)
    with mirada.watch(layer) as gaze:
        layer(query, key, table)
    wanted = gaze[0].weights()
    query.zero_(), key.zero_(), table.triu_(1)
    assert torch.equal(gaze[0].weights(), wanted)
    assert isinstance(gaze[0].calls[0].mask, Mask)


def test_a_watch_that_is_left_in_another_thread():
    layer, x = MultiHeadAttention(12, 3), torch.randn(2, 5, 12)
    manager, said = mirada.watch(layer), []

    def leave():
        try:
            manager.__exit__(None, None, None)
        except RuntimeError as error:
            said.append(str(error))
        with mirada.watch(layer) as gaze:  # the thread itself is well
            layer(x)
        said.append(len(gaze))

    def in_a_thread(work):
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()

    def enter():  # in a thread that ends: its mode is left behind
        manager.__enter__()
        in_a_thread(leave)

    in_a_thread(enter)
    assert said == ["a watch was entered in one thread and left in another: leave it where it began", 1]
