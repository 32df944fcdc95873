"""The exercises speak English and keep their progress elsewhere."""

import pytest

from mirada.exercises import progress, texts


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "MIRADA_LANG", progress.TOLD):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(texts, "_chosen", None)
    monkeypatch.setenv("MIRADA_HOME", str(tmp_path / "home"))
