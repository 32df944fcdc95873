"""Each family compiled, and each exported, says what it says without."""

import pytest
import torch
from small import EXACT, FAMILIES, LENGTH, SOURCE_VOCABULARY, VOCABULARY, run_of, tokens

EVERY = list(zip(FAMILIES, ("learned", "rotary", "learned"), strict=True))
LENGTHS = (7, 13)  # none of them that of the export


def given_to(family, length):
    ids = tokens(length, VOCABULARY)
    return (tokens(length + 4, SOURCE_VOCABULARY), ids) if family == "encoder_decoder" else (ids,)


def built(family, positions):
    sizes = {"source_length": 31, "target_length": 31} if family == "encoder_decoder" else {"max_length": 31}
    return run_of(family, positions=positions, num_blocks=1, **sizes).model.eval()


@pytest.mark.parametrize(("family", "positions"), EVERY)
def test_captured_whole_for_any_length(family, positions):
    torch._dynamo.reset()
    model = built(family, positions)
    compiled = torch.compile(model, backend="eager", fullgraph=True, dynamic=True)
    for length, stance in zip(LENGTHS, ("default", "fail_on_recompile"), strict=True):
        given = given_to(family, length)
        with torch.compiler.set_stance(stance):
            ours = compiled(*given)
        torch.testing.assert_close(ours, model(*given), **EXACT)


@pytest.mark.parametrize(("family", "positions"), EVERY)
def test_exported_for_any_length(family, positions):
    model, given = built(family, positions), given_to(family, LENGTH)
    free = [torch.export.Dim(name, min=2, max=31) for name in ("source", "target")][-len(given) :]
    program = torch.export.export(model, given, dynamic_shapes=[{1: dim} for dim in free])
    for length in LENGTHS:
        given = given_to(family, length)
        torch.testing.assert_close(program.module()(*given), model(*given), **EXACT)
