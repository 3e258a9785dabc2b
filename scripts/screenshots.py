"""
Takes pictures of the page of a running `elmo-tasks serve`: each tab with its first example, on a
wide and light screen and on a narrow and dark one. `make browser` fetches what this needs, except
Chromium.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The name, the width in pixels and the colours of each kind of picture.
SCREENS = (("wide", 1280, "light"), ("narrow", 400, "dark"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="the address that the server prints")
    parser.add_argument("folder", type=Path, help="where to write TAB_wide.png and TAB_narrow.png")
    args = parser.parse_args()
    sys.path.append(str(ROOT / "build" / "browser"))
    from PIL import Image
    from playwright.sync_api import sync_playwright

    args.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[] if os.geteuid() else ["--no-sandbox"],
        )
        for name, width, colours in SCREENS:
            page = browser.new_page(
                viewport={"width": width, "height": 600},
                color_scheme=colours,  # type: ignore[arg-type]
            )
            page.goto(args.address)
            page.get_by_role("tab").first.wait_for()
            for tab in page.get_by_role("tab").all():
                title = tab.inner_text()
                tab.click()
                panel = page.get_by_role("tabpanel", name=title, exact=True)
                if panel.locator(".examples button").count():
                    panel.locator('.result[aria-busy="false"] details').wait_for()
                if title == "SST":
                    panel.get_by_role("button", name="Which words matter?").click()
                    panel.locator(".word").first.wait_for()
                page.mouse.move(0, 0)
                path = args.folder / f"{title.lower()}_{name}.png"
                page.screenshot(path=path, full_page=True)
                # A palette makes the file a third as large.
                Image.open(path).convert("RGB").quantize(method=Image.Quantize.FASTOCTREE).save(
                    path, optimize=True
                )
        browser.close()


if __name__ == "__main__":
    main()
