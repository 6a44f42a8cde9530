"""The page of a report as it is seen: on a desk in the light, on a telephone in the dark."""

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
NOTES = HERE.parents[1] / "examples" / "banknotes.csv"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DESK, TELEPHONE, HEIGHT = 980, 360, 1180


def seen(browser, page, width, scheme):
    """The top of the page on a screen of this width."""
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT}, color_scheme=scheme, reduced_motion="reduce"
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    picture = Image.open(BytesIO(tab.screenshot()))
    context.close()
    return picture


folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
with tempfile.TemporaryDirectory() as scratch, sync_playwright() as driver:
    page = Path(scratch, "report.html")
    arguments = ["report", str(NOTES), "-o", str(page), "--report-time", "20s"]
    subprocess.run([sys.executable, "-m", "rosenblatt.cli", *arguments, "-q"], check=True)
    browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    desk = seen(browser, page, DESK, "light")
    telephone = seen(browser, page, TELEPHONE, "dark")
    browser.close()
picture = Image.new("RGB", (DESK + TELEPHONE + 24, HEIGHT), "white")
picture.paste(desk, (0, 0))
picture.paste(telephone, (DESK + 24, 0))
picture.quantize(128, dither=Image.Dither.NONE).save(folder / "report.png", optimize=True)
