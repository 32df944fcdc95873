"""What must be said before transformers is imported: it neither asks the network nor talks. One thread."""

import os

import pytest
import torch

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(autouse=True, scope="package")
def _one_thread():
    """Tiny models gain nothing from more, and wait for one another on a machine that is busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
