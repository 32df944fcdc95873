"""What an import brings along. How long it takes is not timed here; what makes it long is named instead."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "numpy", "fastapi", "uvicorn", "anywidget", "matplotlib"}


def loaded_after(code):
    """The heavy packages that a fresh interpreter has loaded after running the code."""
    ask = f"\nimport sys; print('loaded:', *sorted(set(sys.modules) & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code + ask], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "code",
    [
        "import mirada",
        "import mirada; dir(mirada); mirada.__version__",
        "import mirada.cli",
        "import mirada.cli; assert mirada.cli.run(['--help']) == 0",
        "import mirada.cli; assert mirada.cli.run(['lab', '--help']) == 0",
        "import mirada.cli; assert mirada.cli.run(['export', 'words', '--help']) == 0",
        "import mirada; mirada.Scene",
        "import mirada.views.page",
    ],
)
def test_nothing_heavy_comes_along(code):
    assert loaded_after(code) == set()


def test_the_widget_brings_its_own_packages_but_not_torch():
    assert loaded_after("import mirada; mirada.Words") == {"anywidget"}


def test_a_layer_brings_torch_when_it_is_first_used_and_no_server_or_notebook():
    loaded = loaded_after("import sys, mirada; assert 'torch' not in sys.modules; mirada.to_torch")
    assert "torch" in loaded
    assert not loaded & {"fastapi", "uvicorn", "anywidget", "matplotlib"}
