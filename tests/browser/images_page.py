"""The Images page as a person meets it, by roles and names; and pictures to give to it."""

import re
from io import BytesIO

import numpy as np
from PIL import Image
from playwright.sync_api import FilePayload, Locator, Page, expect

PATIENCE = 60_000  # milliseconds; a bound for a slow machine: the first look imports torch
LOOKS = re.compile(r"(mira sobre todo|mira a todos casi por igual|looks chiefly|looks at all nearly alike)")
# Bytes, or how many, dropped or pasted: true where the page takes them.
PUT = """([kind, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], 'otra.png', {type: 'image/png'}));
    const init = {bubbles: true, cancelable: true};
    const event = kind === 'paste' ? new ClipboardEvent(kind, {...init, clipboardData: data})
        : new DragEvent(kind, {...init, dataTransfer: data});
    document.querySelector('main').dispatchEvent(event);
    return event.defaultPrevented;
}"""


class Images:
    """One Images page, by roles and names."""

    def __init__(self, page: Page):
        self.page = page
        self.main = page.get_by_role("main")
        self.patches = page.get_by_role("group", name=re.compile("^(Qué parche mira|Which patch looks)$"))
        self.alert = page.get_by_role("alert")
        self.sum = page.locator(".sum")
        self.pad = page.locator(".paper-of")
        self.chances = page.locator(".columns li")

    def says(self, text: str | re.Pattern[str], timeout: float = PATIENCE) -> None:
        expect(self.main).to_contain_text(text, timeout=timeout)

    def looked(self) -> None:
        """Somebody has looked: there is a sentence about it."""
        expect(self.sum).to_contain_text(LOOKS, timeout=PATIENCE)

    def patch(self, number: int) -> Locator:
        return self.patches.get_by_role("radio", name=re.compile(rf"^(parche|patch) {number},"))

    def cls(self) -> Locator:
        return self.patches.get_by_role("radio", name=re.compile(r"^\[CLS\]"))

    def source(self, name: str) -> None:
        self.page.get_by_role("radio", name=name, exact=True).press("Space")

    def give(self, data: bytes, name: str = "mía.png") -> None:
        file: FilePayload = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        self.page.locator("input[type=file]").set_input_files(file)

    def draw(self, *strokes: list[tuple[float, float]]) -> None:
        self.page.get_by_role("button", name=re.compile("^(Borrar|Wipe it off)$")).click()
        self.pad.scroll_into_view_if_needed()
        box = self.pad.bounding_box()
        assert box
        for stroke in strokes:
            for i, (x, y) in enumerate(stroke):
                self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=2)
                if not i:
                    self.page.mouse.down()
            self.page.mouse.up()

    def shares(self) -> list[float]:
        """How clearly each patch is seen, by what lies over it."""
        veils = self.page.locator(".gaze rect[fill-opacity]")
        return veils.evaluate_all("all => all.map(r => 1 - r.getAttribute('fill-opacity'))")


def png(pixels: np.ndarray, kind: str = "PNG", **options) -> bytes:
    file = BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(height).integers(0, 256, (height, width, 3), dtype=np.uint8)
