"""The Train page as a person meets it, and a lab that trains in a folder of the test's own."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from conftest import serve

RUN = 60_000  # milliseconds; a bound for a slow machine that other tests use too, not a wait
NARROW = "\u202f"


@contextmanager
def lab_of(runs: Path) -> Iterator[str]:
    """The address of a lab with the runs of that folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "MIRADA_RUNS", str(runs))
        patch.setitem(os.environ, "OMP_NUM_THREADS", "1")
        with serve() as address:
            yield address


class Train:
    """One Train page, by roles and names."""

    def __init__(self, page: Page):
        self.page = page
        self.main = page.get_by_role("main")
        self.history = page.get_by_role("slider", name=re.compile("historia|history"))
        self.moments = page.locator("button.moment")
        self.alert = page.get_by_role("alert")
        self.ask = page.get_by_label(re.compile("Escribe las tuyas|Type your own"))

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def switch(self, name: str) -> Locator:
        form = self.page.get_by_role("form", name=re.compile("Qué entrenar|What to train"))
        return form.get_by_role("switch", name=name)

    def says(self, text: str | re.Pattern[str], timeout: float = RUN) -> None:
        expect(self.main).to_contain_text(text, timeout=timeout)

    def state(self, text: str | re.Pattern[str]) -> None:
        """How far the run that is watched is."""
        expect(self.main.locator(".which")).to_contain_text(text, timeout=RUN)

    def start(self, **choices: str) -> None:
        for name, value in choices.items():
            self.page.get_by_label(name, exact=True).select_option(value)
        before = self.page.url
        self.page.get_by_role("button", name=re.compile("^(Entrenar|Train)( another| otro)?$")).click()
        self.page.wait_for_function("before => location.href !== before", arg=before)
