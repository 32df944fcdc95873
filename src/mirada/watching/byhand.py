"""Attention that is written out by hand: noted, so that nobody takes what is seen for all there is."""

import torch
import torch.nn.functional as F
from torch import Tensor

from mirada.watching.watcher import places

SOFTMAX = {torch.softmax, torch.Tensor.softmax, F.softmax, torch.special.softmax}


def noted(function, scores: Tensor, *args, **kwargs) -> Tensor:
    """A softmax over a table of scores that none of the functions we know has called."""
    weights = function(scores, *args, **kwargs)
    if isinstance(scores, Tensor) and scores.dim() > 2:
        for watcher, path, module in places():
            if scores.dim() > 3 or "att" in f"{path} {type(module).__name__}".lower():
                shape = " × ".join(map(str, scores.shape))
                watcher.gaze.note(
                    path, f"a softmax over {shape} is written out by hand in {type(module).__name__}"
                )
    return weights
