"""What must never change a model's logits, whatever its family."""

import pytest
import torch
from small import BATCH, EXACT, FAMILIES, KINDS, LENGTH, SOURCE, VOCABULARY, run_of

from mirada import Mask

EVERY = [(family, kind) for family in FAMILIES for kind in KINDS]


@pytest.mark.parametrize(("family", "kind"), [row for row in EVERY if row[0] != "encoder"])
def test_the_future_changes_nothing(family, kind):
    # jadore801120/attention-is-all-you-need-pytorch#19, tensorflow/text#894
    run = run_of(family, kind)
    before = run()
    for t in range(LENGTH):
        changed = run.target.clone()
        changed[:, t:] = (changed[:, t:] + 1 + torch.randint(VOCABULARY - 1, (1,))) % VOCABULARY
        after = run(target=changed)
        torch.testing.assert_close(after[:, :t], before[:, :t], **EXACT)
        assert (after[:, t] != before[:, t]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_in_an_encoder_everybody_sees_everybody(kind):
    run = run_of("encoder", kind)
    before = run()
    for t in range(LENGTH):
        changed = run.target.clone()
        changed[:, t] = (changed[:, t] + 1) % VOCABULARY
        assert (run(target=changed) != before).any(-1).all()


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_what_is_in_the_padding_changes_nothing(family, kind):
    # pytorch#64525
    run = run_of(family, kind)
    lengths = torch.tensor([5, 3, 1])
    run.target_lengths = lengths
    if run.source is not None:
        run.source_lengths = torch.tensor([2, 7, 4])

    def outcome(filling):
        target, source = run.target.clone(), None if run.source is None else run.source.clone()
        for b in range(BATCH):
            target[b, lengths[b] :] = filling
            if source is not None:
                source[b, run.source_lengths[b] :] = filling
        run.model.zero_grad()
        logits = run(source=source, target=target)
        kept = torch.cat([logits[b, : lengths[b]] for b in range(BATCH)])
        kept.square().sum().backward()
        stacks = [p for name, p in run.model.named_parameters() if "blocks" in name]
        return kept.detach(), [p.grad.clone() for p in stacks]

    torch.testing.assert_close(outcome(filling=0), outcome(filling=9), **EXACT)


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_padding_equals_each_sample_alone(family, kind):
    run = run_of(family, kind)
    lengths, source_lengths = torch.tensor([5, 3, 1]), torch.tensor([2, 7, 4])
    together = run(
        target_lengths=lengths, source_lengths=None if family != "encoder_decoder" else source_lengths
    )
    for b in range(BATCH):
        alone = run.of(slice(b, b + 1))
        alone["target"] = alone["target"][:, : lengths[b]]
        if family == "encoder_decoder":
            alone["source"] = alone["source"][:, : source_lengths[b]]
        torch.testing.assert_close(together[b : b + 1, : lengths[b]], run(**alone), **EXACT)


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_the_order_of_the_batch_changes_nothing(family, kind):
    run, order = run_of(family, kind), torch.tensor([2, 0, 1])
    torch.testing.assert_close(run(**run.of(order)), run()[order], **EXACT)


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_samples_do_not_see_each_other(family, kind):
    run = run_of(family, kind)
    together = run()
    for b in range(BATCH):
        torch.testing.assert_close(run(**run.of(slice(b, b + 1))), together[b : b + 1], **EXACT)


@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_every_parameter_gets_a_gradient(family, kind):
    # pytorch#26698
    run = run_of(family, kind)
    run().square().sum().backward()
    for name, parameter in run.model.named_parameters():
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name


@pytest.mark.parametrize("family", FAMILIES)
def test_no_two_blocks_start_alike(family):
    # pytorch#86274, annotated-transformer#9
    model = run_of(family, num_blocks=3).model
    matrices = [p for name, p in model.named_parameters() if "blocks" in name and p.dim() == 2]
    assert len(matrices) >= 3 * 4
    for i, one in enumerate(matrices):
        assert not any(torch.equal(one, other) for other in matrices[:i])


@pytest.mark.parametrize(("batch", "length"), [(0, LENGTH), (BATCH, 0)])
@pytest.mark.parametrize(("family", "kind"), EVERY)
def test_empty_input(family, kind, batch, length):
    # pytorch PR#192651
    run = run_of(family, kind)
    given = run.of(slice(0, batch))
    given["target"] = given["target"][:, :length]
    logits = run(**given)
    assert logits.shape == (batch, length, VOCABULARY)
    logits.sum().backward()


def test_an_empty_source():
    run = run_of("encoder_decoder")
    nothing = run(source=run.source[:, :0])
    assert nothing.shape == (BATCH, LENGTH, VOCABULARY)
    lengths = torch.tensor([SOURCE, 0, 4])
    torch.testing.assert_close(run(source_lengths=lengths)[1], nothing[1], **EXACT)


def test_a_source_mask_that_is_more_than_padding_is_not_guessed_at():
    run = run_of("encoder_decoder")
    with pytest.raises(ValueError, match=r"source_mask is Mask\.causal\(\).*call encode and decode"):
        run.model(run.source, run.target, Mask.causal())
    with pytest.raises(TypeError, match=r"Mask\.allowed"):
        run.model(run.source, run.target, torch.ones(BATCH, SOURCE, dtype=torch.bool))
