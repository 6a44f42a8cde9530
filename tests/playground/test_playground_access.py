"""The playground for everybody: screen readers, small screens, the dark, every algorithm, files."""

import json

import numpy as np
import pytest

import rosenblatt as rb

pytestmark = pytest.mark.browser

SIZES = {"telephone": (360, 740), "desk": (1280, 800), "projector": (1920, 1080)}
ALGORITHMS = [
    *("perceptron", "pocket", "average", "vote", "adaline", "kernel", "max-margin"),
    "soft-margin",
]
# Named controls that are cut off or lie outside the page.
CUT = """() => [...document.querySelectorAll("button, input, select, h1, h2, a")]
    .filter(e => e.checkVisibility() && !e.closest(".unseen, .skip, dialog, .icons"))
    .filter(e => !e.classList.contains("unseen") && !e.classList.contains("skip"))
    .filter(e => { const box = e.getBoundingClientRect();
                   return box.left < -1 || box.right > innerWidth + 1; })
    .map(e => e.id || e.textContent.trim().slice(0, 30))"""
DROP = """text => {
    const moved = new DataTransfer();
    moved.items.add(new File([text], "points.csv", { type: "text/csv" }));
    const options = { dataTransfer: moved, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new DragEvent("drop", options));
}"""


def faults(page):
    """What axe finds wrong, with the elements in question."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    found = axe.Axe().run(page).response["violations"]
    return {one["id"]: [node["html"][:120] for node in one["nodes"]] for one in found}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_cut_off_or_out_of_reach(page, size, scheme):
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.click("#open-lessons")
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(CUT) == []
    assert faults(page) == {}
    if size == "desk":
        for opener in ("#open-table", "#open-keep", "#open-keys"):
            page.click(opener)
            assert faults(page) == {}
            page.keyboard.press("Escape")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_runs_to_its_end(page, algorithm):
    page.select_option("#algorithm-name", algorithm)
    for name in ("weights", "curves", "update"):
        page.click(f"#tab-{name}")
    name = page.locator("#algorithm-name option:checked").inner_text()
    page.locator("#stop dt", has_text=name).wait_for()  # the answer is there
    if page.locator("#last").is_enabled():
        page.click("#last")
    page.locator("#last:disabled").wait_for()
    assert page.locator("#algorithm-error").is_hidden()


def test_a_dropped_file_is_text_only(page):
    rows = [
        f"{i},{i % 3},{'<script>' if i < 4 else '<img src=x onerror=alert(1)>'}" for i in range(8)
    ]
    text = "\n".join(["a,b,class", *rows])
    page.evaluate(DROP, text)
    page.locator("#data-text", has_text="8 points").wait_for()
    page.locator("#legend", has_text="<script>").wait_for()
    assert page.locator("main img, main script").count() == 0


def test_the_column_of_the_class_can_be_named(page):
    page.click("#open-table")
    page.fill("#table-text", "a,b,c\n1,k,0.5\n2,l,1.25\n3,k,2.5\n4,l,9.125\n")
    page.fill("#table-target", "b")
    page.click("#table-use")
    page.locator("#table").wait_for(state="hidden")
    page.locator("#data-text", has_text="4 points").wait_for()


def test_a_recording_plays_from_disk(page, chromium, tmp_path):
    with page.expect_download() as got:
        page.click("#open-keep")
        page.click("#keep-recording")
    file = tmp_path / "run.html"
    got.value.save_as(file)
    total = page.get_attribute("#scrub", "max")
    context = chromium.new_context()
    asked, wrong = [], []
    alone = context.new_page()
    alone.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else asked.append(r))
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.goto(file.as_uri())
    alone.locator(f"#scrub[max='{total}']").wait_for()
    alone.keyboard.press("End")
    alone.locator("#clock", has_text=f"update {total} of {total}").wait_for()
    alone.keyboard.press("ArrowLeft")
    alone.locator("#clock", has_text=f"update {int(total) - 1} of {total}").wait_for()
    assert alone.locator("#formula tbody tr").all_inner_texts()
    assert alone.locator("#tool-choices").is_hidden()
    context.close()
    assert (asked, wrong) == ([], [])


def test_the_run_kept_as_json_is_the_librarys(page):
    with page.expect_download() as got:
        page.click("#open-keep")
        page.click("#keep-json")
    run = json.loads(got.value.path().read_text())
    with page.expect_download() as got:
        page.click("#keep-csv")
    rows = [row.split(",") for row in got.value.path().read_text().strip().split("\n")[1:]]
    X = np.array([[float(x), float(y)] for x, y, _ in rows])
    model = rb.Perceptron(max_epochs=100).fit(X, [name for *_, name in rows])
    text = json.dumps(run)
    assert json.dumps(model.coef_[0].tolist())[1:-1] in text
