"""Runs begin in an empty folder of their own, on one thread, and leave the random numbers as they were."""

import os

import pytest
import torch
from tiny import Tiny


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def task():
    return Tiny()


@pytest.fixture
def environment():
    """Of another Python that runs tests/training/tiny.py."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.path.dirname(__file__)}
