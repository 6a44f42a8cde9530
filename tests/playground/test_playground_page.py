"""The page in a real browser: points edited, time travelled, and numbers that are the library's."""

import re

import numpy as np
import pytest

import rosenblatt as rb

pytestmark = pytest.mark.browser

FIRST = "async () => (await import('/js/first.js')).FIRST.data"
# Values of a kernel run after an epoch, by the page's own modules.
VALUES = """async ([data, settings, epoch, points]) => {
    const { ask } = await import('/js/api.js');
    const { shownCoefficients } = await import('/js/dual.js');
    const { kernelOf } = await import('/js/shading.js');
    const run = await ask('run', { data, settings });
    const [course] = run.courses;
    const last = course.epoch.findLastIndex((e) => e <= epoch);
    const c = shownCoefficients(course, last, data.points.length);
    const K = kernelOf(run.kernel);
    return points.map(([x, y]) => data.points.reduce((sum, [u, v], i) =>
        sum + c[i] * K((x - u) ** 2 + (y - v) ** 2, x * u + y * v), 0));
}"""


def numbers(text):
    """The numbers in a text of the page, whose minus is a true one."""
    found = re.findall(r"-?\d+\.?\d*", text.replace("\N{MINUS SIGN}", "-").replace("\u202f", ""))
    return [float(one) for one in found]


def pixel(page, x, y):
    """Where a point of the plane is on the screen."""
    canvas = page.locator("#plane")
    box = canvas.bounding_box()
    x0, x1, y0, y1 = map(float, canvas.get_attribute("data-view").split())
    return (
        box["x"] + box["width"] * (x - x0) / (x1 - x0),
        box["y"] + box["height"] * (y1 - y) / (y1 - y0),
    )


def table(page):
    """The points as the page's own table has them."""
    page.click("#open-table")
    rows = page.input_value("#table-text").strip().split("\n")[1:]
    page.keyboard.press("Escape")
    return [(float(x), float(y), name) for x, y, name in (row.split(",") for row in rows)]


def says(page, selector, text):
    """Wait until it does."""
    page.locator(selector, has_text=text).first.wait_for()


def test_points_are_added_dragged_switched_erased_and_brought_back(page):
    before = table(page)
    page.click("#tool-class-1")
    page.mouse.click(*pixel(page, -3.0, 0.2))
    added = table(page)
    assert added[:-1] == before
    np.testing.assert_allclose(added[-1][:2], (-3.0, 0.2), atol=0.02)
    assert added[-1][2] == "B"
    says(page, "#verdict-word", "No")  # a B among the As
    page.mouse.move(*pixel(page, *added[-1][:2]))
    page.mouse.down()
    page.mouse.move(*pixel(page, 0.0, 0.0), steps=4)
    page.mouse.move(*pixel(page, 2.0, -2.0), steps=4)
    page.mouse.up()
    moved = table(page)
    np.testing.assert_allclose(moved[-1][:2], (2.0, -2.0), atol=0.04)
    says(page, "#verdict-word", "Yes")
    page.click("#tool-switch")
    page.mouse.click(*pixel(page, *moved[-1][:2]))
    assert table(page)[-1] == (*moved[-1][:2], "A")
    page.click("#tool-erase")
    page.mouse.click(*pixel(page, *moved[-1][:2]))
    assert table(page) == before
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert table(page) == moved
    page.click("#undo")
    assert table(page) == added  # the whole drag is one step
    page.click("#undo")
    assert table(page) == before
    assert page.locator("#undo").is_disabled()
    page.keyboard.press("Control+Shift+Z")
    assert table(page) == added


def test_the_same_with_keys_alone(page):
    before = table(page)
    page.locator("#fit-view").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "plane"
    for key in ("2", "Shift+ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    added = table(page)
    assert len(added) == len(before) + 1
    assert added[-1][2] == "B"
    page.locator("#plane").focus()
    for key in ("b", "Enter", "Shift+ArrowLeft", "Enter", "s"):
        page.keyboard.press(key)
    moved = table(page)
    assert moved[-1][0] < added[-1][0]
    assert moved[-1][1:] == (added[-1][1], "A")
    page.locator("#plane").focus()
    for key in ("b", "Delete"):
        page.keyboard.press(key)
    assert table(page) == before


def test_time_goes_on_and_back_with_the_librarys_numbers(page):
    data = page.evaluate(FIRST)
    X, y = np.array(data["points"]), np.array(data["labels"])
    model = rb.Perceptron(record=True, max_epochs=100).fit(X, y)
    total = int(model.n_updates_)
    assert page.get_attribute("#scrub", "max") == str(total)

    def shown(number):
        says(page, "#clock", f"update {number} of {total}")
        rows = page.locator("#formula tbody tr").all_inner_texts()
        return [numbers(row.replace("+", "")) for row in rows]

    updates, w = model.trace_.updates, np.zeros(3)
    thetas = [w]
    for sample, step in zip(updates.sample, updates.step, strict=True):
        thetas.append(thetas[-1] + step * np.append(X[sample], 1))
    says(page, "#stop", "Perceptron: learning")  # how it ends is told at the end
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    for t, key in ((3, "ArrowLeft"), (2, "End"), (total, "ArrowLeft"), (total - 1, "Home")):
        old, added, new = shown(t)
        np.testing.assert_allclose(old, thetas[t - 1], atol=1e-9)
        np.testing.assert_allclose(added, thetas[t] - thetas[t - 1], atol=1e-9)
        np.testing.assert_allclose(new, thetas[t], atol=1e-9)
        assert page.inner_text("#mistakes") == str(t)
        assert ("separated, 0 errors" in page.inner_text("#stop")) == (t == total)
        assert f"sample {updates.sample[t - 1] + 1} " in page.inner_text("#update-what")
        page.keyboard.press(key)
    says(page, "#clock", "update 0 of")
    page.locator("#scrub").fill("7")
    np.testing.assert_allclose(shown(7)[2], thetas[7], atol=1e-9)
    page.click("#play")
    says(page, "#clock", "update 9 of")
    page.click("#play")
    page.locator("#play[aria-label=Play]").wait_for()

    bound, best = rb.mistake_bound(X, y), rb.MaxMarginClassifier().fit(X, y)
    (margin,) = numbers(page.inner_text("#verdict-number"))
    plane = rb.Hyperplane(best.coef_[0], best.intercept_[0])
    assert margin == pytest.approx(plane.margin(X, 2 * y - 1), rel=2e-3)
    assert numbers(page.inner_text("#of-bound")) == [np.floor(bound.bound)]
    assert numbers(page.inner_text("#meter-text"))[-2:] == pytest.approx(
        [bound.R, bound.gamma], rel=2e-3
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_surface_is_the_decision_function(page):
    data = page.evaluate(FIRST)
    data.pop("features")
    data["labels"][::5] = [1 - label for label in data["labels"][::5]]  # so that it goes on
    X, y = np.array(data["points"]), np.array(data["labels"])
    points = [[0.0, 0.0], [1.5, -2.0], [-3.0, 1.0]]
    poly = {"kernel": "poly", "degree": 2, "gamma": 0.1}
    for options, epoch in (
        (poly, 3),
        (poly | {"drop_after": 2}, 3),
        (poly | {"budget": 4}, 3),
        (poly | {"keep": "average"}, 6),
        ({"kernel": "gaussian", "sigma": 2.0, "fit_intercept": True}, 2),
    ):
        model = rb.KernelPerceptron(**options, max_epochs=epoch).fit(X, y)
        asked = {"algorithm": "kernel", **options, "max_epochs": 6}
        found = page.evaluate(VALUES, [data, asked, epoch, points])
        np.testing.assert_allclose(found, model.decision_function(points), rtol=1e-9)


def test_the_link_brings_everything_back(page):
    page.select_option("#algorithm-name", "pocket")
    page.click("#add-lane")
    page.select_option("#algorithm-name", "soft-margin")
    page.mouse.click(*pixel(page, -2.0, -2.5))
    points = table(page)
    page.click("#tab-weights")
    page.click("#last")
    says(page, "#clock", "(done)")  # the other algorithm takes longer
    page.wait_for_timeout(800)  # until it is quiet, and the address follows
    clock, longest = page.inner_text("#clock"), page.input_value("#scrub")
    page.reload()
    says(page, "#clock", clock.split("\n")[0])
    assert page.input_value("#scrub") == longest
    assert page.input_value("#algorithm-name") == "soft-margin"
    assert page.get_attribute("#tab-weights", "aria-selected") == "true"
    assert page.locator("#lanes .lane").count() == 2
    assert table(page) == points


def test_a_link_that_is_none_is_told(page, address):
    page.goto(address + "#1.bm9uc2Vuc2U")
    page.reload()
    says(page, "#toast", "not one of the playground")
    assert len(table(page)) == 24
