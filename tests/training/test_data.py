"""The order of the data is the DataLoader's, and the examination holds nothing that was learnt."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from mirada.training.data import Order, fingerprints, split
from mirada.training.errors import TrainingError
from mirada.training.task import Batch
from mirada.training.tasks_encoder import Reverse


@given(size=st.integers(1, 61), batch_size=st.integers(1, 67), seed=st.integers(0, 5))
def test_batches_come_as_the_dataloader_draws_them(size, batch_size, seed):
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(
        TensorDataset(torch.arange(size)), batch_size=batch_size, shuffle=True, generator=generator
    )
    order = Order(size, batch_size, seed)
    assert order.batches == len(loader)
    for epoch in range(3):
        reference = [batch.tolist() for (batch,) in loader]
        ours = [next(order).tolist() for _ in reference]
        assert ours == reference
        assert order.ended
        assert order.epoch == epoch
        assert torch.equal(order.generator.get_state(), generator.get_state())


@given(taken=st.integers(0, 13))
def test_the_order_goes_on_where_its_state_was_taken(taken):
    order, again = Order(17, 5, 3), Order(17, 5, 99)
    for _ in range(taken):
        next(order)
    before, place = order.state()
    again.restore(before, **place)
    assert (again.epoch, again.ended) == (order.epoch, order.ended)
    assert [next(again).tolist() for _ in range(9)] == [next(order).tolist() for _ in range(9)]


def drawing(length):
    def draw(count, generator):
        rows = torch.randint(0, 3, (count, length), generator=generator)
        return Batch((rows,), rows)

    return draw


@pytest.mark.parametrize("seed", range(5))
def test_nothing_examined_was_learnt(seed):
    train, validation = split(drawing(5), 211, 31, seed)  # of 243 there are
    learnt = {tuple(row) for row in train.inputs[0].tolist()}
    assert len(train) == 211
    assert len(validation) == 31
    assert not learnt & {tuple(row) for row in validation.inputs[0].tolist()}
    as_drawn = torch.randint(0, 3, (211, 5), generator=torch.Generator().manual_seed(seed))
    assert torch.equal(train.inputs[0], as_drawn)  # what is learnt stays as it was drawn


def test_too_few_different_samples_are_an_error():
    with pytest.raises(TrainingError, match=r"31 are wanted for the examination .* there are 0"):
        split(drawing(2), 211, 31, 0)


def test_the_data_of_reverse_are_those_of_the_lesson():
    train, validation = Reverse().data(0)
    generator = torch.Generator().manual_seed(0)
    learnt = torch.randint(0, 10, (20_000, 8), generator=generator)
    examined = torch.randint(0, 10, (2_000, 8), generator=generator)
    assert torch.equal(train.inputs[0], learnt)
    assert torch.equal(train.targets, learnt.flip(1))
    assert train.inputs[0][0].tolist() == [4, 9, 3, 0, 3, 9, 7, 3]
    assert validation.inputs[0][0].tolist() == [8, 3, 3, 9, 6, 9, 4, 0]
    # One of the lesson's 2,000 was learnt: another one stands in for it, at the end.
    seen = {tuple(row) for row in learnt.tolist()}
    unseen = [row for row in examined.tolist() if tuple(row) not in seen]
    assert len(unseen) == 1_999
    assert validation.inputs[0][:1_999].tolist() == unseen
    assert tuple(validation.inputs[0][1_999].tolist()) not in seen


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float16, torch.uint8])
def test_fingerprints_tell_samples_apart_in_any_dtype(dtype):
    x = torch.arange(60).reshape(5, 3, 4).to(dtype)
    first = fingerprints(Batch((x, x[:, 0]), x))
    assert len(first.unique()) == 5
    assert torch.equal(first, fingerprints(Batch((x.clone(), x[:, 0]), x)))
    changed = x.clone()
    changed[2, 1, 3] += 1
    assert (first != fingerprints(Batch((changed, x[:, 0]), x))).tolist() == [i == 2 for i in range(5)]
