"""Every lesson of the playground is solved as a person would, with the keyboard alone."""

import pytest

pytestmark = pytest.mark.browser

OR = ["n", "n", "s", "n", "s"]  # from corner to corner, switching two


def in_plane(page, *keys):
    """Keys pressed while the picture has the focus."""
    page.focus("#plane")
    for key in keys:
        page.keyboard.press(key)


def to_the_end(page):
    """Go to the end of the run, once the answer to what was changed is there."""
    for _ in range(600):
        if page.locator("#last").is_enabled():
            page.click("#last")
        page.wait_for_timeout(100)
        if page.locator(".lesson-asks[data-done]").count():
            return


def opened(page, number):
    if page.locator("#lesson").is_hidden():
        page.click("#open-lessons")
    page.click(f"#lesson-{number}")
    page.wait_for_timeout(300)
    assert page.locator("#lesson-show-hint").is_visible()  # nothing is done yet
    assert page.locator("#lesson h2").inner_text().startswith(f"{number}. ")


def is_done(page, number):
    page.locator(f"#lesson-{number}.done").wait_for(timeout=60_000)
    assert page.locator(".lesson-asks b").inner_text().strip() == "✓ Done."


def neuron(page):
    in_plane(page, *OR)
    to_the_end(page)


def bias(page):
    assert page.locator("#verdict-word").inner_text() == "No"
    page.get_by_label("With a bias b").check()
    to_the_end(page)


def update(page):
    page.click("#step")


def bound(page):
    in_plane(page, *["b", "Delete"] * 8)  # one of each class is left, opposite to each other
    to_the_end(page)


def cycle(page):
    in_plane(page, "b", "s")
    to_the_end(page)


def pocket(page):
    page.wait_for_timeout(500)
    page.focus("#scrub")
    for _ in range(200):
        if page.locator("#lesson-6.done").count():
            return
        page.keyboard.press("ArrowRight")


def kernels(page):
    page.select_option("#algorithm-name", "kernel")
    to_the_end(page)


def margins(page):
    in_plane(page, *["b", "Delete"] * 9)


@pytest.mark.parametrize(
    ("number", "solve"),
    list(enumerate([neuron, bias, update, bound, cycle, pocket, kernels, margins], 1)),
)
def test_a_lesson_notices_that_it_was_done(page, number, solve):
    opened(page, number)
    solve(page)
    is_done(page, number)


def test_undo_takes_the_lesson_back_with_its_scene(page):
    page.click("#open-lessons")
    page.locator("#lesson").wait_for()
    page.click("#undo")
    page.locator("#lesson").wait_for(state="hidden")
    assert page.inner_text("#data-text") == "24 points."
