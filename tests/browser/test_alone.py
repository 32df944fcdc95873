"""The exported file stands alone: no request, a policy that holds, at most 60,000 bytes."""

import shutil

import pytest
from playwright.sync_api import expect
from sight import Sight

BUDGET = 60_000
SECRET = "window.ran = true"


@pytest.mark.parametrize("language", ["es", "en"])
def test_it_is_small_enough_to_be_mailed(exported, language):
    assert exported(language).stat().st_size <= BUDGET


def test_it_works_from_any_folder_and_asks_for_nothing(open_page, exported, tmp_path):
    file = tmp_path / "mi clase #1 ñ" / "palabras (2).html"
    file.parent.mkdir()
    shutil.copy(exported("es"), file)
    sight = Sight(open_page(file.as_uri()))
    asked = []
    sight.page.on("request", lambda request: asked.append(request.url))
    sight.page.reload()
    sight.says("«banco» mira sobre todo a «plata» (61 %)")
    sight.choose("la")
    sight.open_more()
    for kind in ("svg", "png", "csv"):
        with sight.page.expect_download() as download:
            sight.page.get_by_role("button", name=sight.said("export." + kind)).click()
        assert download.value.failure() is None
    sight.page.get_by_role("link", name="English").click()
    Sight(sight.page, "en").says("“the” (before money) looks chiefly at “money” (60%)")
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [file.as_uri()]


def test_it_names_no_other_place(exported):
    text = exported("es").read_text("utf-8")
    for sign in ("src=h", 'src="h', "@import", "<link rel=stylesheet", "url(h", "url(//"):
        assert sign not in text
    assert "fonts.g" not in text


class TestPolicy:
    """The page's own script runs; nothing that comes later does, and nothing leaves."""

    @pytest.fixture(params=["file", "lab"])
    def sight(self, request, open_page, exported, lab) -> Sight:
        address = lab if request.param == "lab" else exported("es").as_uri()
        forgive = "Content Security Policy|leaves the page|net::ERR|violates"
        sight = Sight(open_page(address, forgive=forgive))
        expect(sight.word("banco")).to_be_checked()
        sight.page.evaluate(
            "() => { window.refused = []; addEventListener('securitypolicyviolation',"
            " e => refused.push(e.effectiveDirective)); }"
        )
        return sight

    def refused(self, sight: Sight, by: str) -> None:
        sight.page.wait_for_function("by => refused.some(d => d.startsWith(by))", arg=by)

    @pytest.mark.parametrize(
        "injected",
        [
            f"<img src=data:, onerror='{SECRET}'>",
            f"<svg onload='{SECRET}'></svg>",
        ],
        ids=["onerror", "onload"],
    )
    def test_markup_runs_nothing(self, sight, injected):
        sight.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", injected)
        self.refused(sight, "script-src")
        assert sight.page.evaluate("window.ran") is None

    def test_a_script_that_is_added_does_not_run(self, sight):
        sight.page.evaluate(
            """code => document.body.append(
                Object.assign(document.createElement('script'), {textContent: code}))""",
            SECRET,
        )
        self.refused(sight, "script-src")
        assert sight.page.evaluate("window.ran") is None

    def test_nothing_is_sent_or_fetched(self, sight):
        sight.page.evaluate("() => void fetch('https://example.org/').catch(() => {})")
        self.refused(sight, "connect-src")
        sight.page.evaluate("() => { new Image().src = 'https://example.org/a.png'; }")
        self.refused(sight, "img-src")
        sight.page.evaluate(
            """() => { document.body.insertAdjacentHTML('beforeend',
                '<form action="https://example.org/" target="_blank"><button id=send></button></form>');
                document.getElementById('send').click(); }"""
        )
        self.refused(sight, "form-action")

    def test_no_style_is_added(self, sight):
        sight.page.evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<style>body{display:none}</style>')"
        )
        self.refused(sight, "style-src")
        expect(sight.main).to_be_visible()


def test_a_lab_may_not_be_framed(open_page, lab):
    """Not even by a page of this machine: here, one that stands in for the lab's own address."""
    page = open_page("about:blank", forgive="frame-ancestors|leaves the page|net::ERR")
    page.route(
        lab + "/framing",
        lambda route: route.fulfill(body=f'<iframe src="{lab}/"></iframe>', content_type="text/html"),
    )
    with page.expect_event("requestfailed") as failed:
        page.goto(lab + "/framing")
    assert failed.value.url == lab + "/"
    assert failed.value.failure == "net::ERR_BLOCKED_BY_RESPONSE"


def test_storage_may_be_forbidden(open_page, exported):
    """As in a sandboxed frame: the page forgets, and works."""
    page = open_page("about:blank")
    page.set_content('<iframe sandbox="allow-scripts allow-downloads" width="1200" height="800"></iframe>')
    page.locator("iframe").evaluate(
        "(frame, html) => { frame.srcdoc = html; }", exported("es").read_text("utf-8")
    )
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("main")).to_contain_text("«banco» mira sobre todo a «plata» (61 %)")
    frame.get_by_role("radio", name="la", exact=True).press("Space")
    expect(frame.get_by_role("main")).to_contain_text("«la» mira sobre todo a «plata» (60 %)")
    frame.get_by_role("link", name="English").click()
    expect(frame.get_by_role("main")).to_contain_text("looks chiefly at “money” (60%)")
