"""What every test starts from: fixed random numbers, one thread, and properties that are never timed."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "search", deadline=None, max_examples=2000
)  # HYPOTHESIS_PROFILE=search: look further
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(autouse=True)
def _same_numbers(request):
    """Seeds torch where the test's module uses it; the others do not have to wait for its import."""
    torch = getattr(request.module, "torch", None)
    if torch is not None:
        torch.manual_seed(0)


# Where files are shared out between processes, one of these at the end would leave the others with nothing.
LONGEST_FILES = {
    "test_attention_compiled.py",
    "test_cases.py",
    "test_cli_training.py",
    "test_compile_export.py",
    "test_every_exercise.py",
    "test_images.py",
    "test_lesson.py",
    "test_lesson_pages.py",
    "test_parallel.py",
    "test_resume.py",
    "test_train.py",
    "test_watch_machinery.py",
    "test_wheel.py",
}


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONGEST_FILES)  # the order is else as it was
