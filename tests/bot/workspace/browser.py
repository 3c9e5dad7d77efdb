"""Chromium for the page's tests: one page that watches itself for errors and for requests that leave the machine."""

import contextlib
import shutil

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextlib.asynccontextmanager
async def browser_page(slack, *, width=1280, height=860, **context):
    """A page on the workspace, loaded; afterwards nothing may have gone wrong in it and nothing left the machine."""
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed (make scenarios)")
    if CHROMIUM is None:
        pytest.skip("no chromium on the PATH")
    troubles = []
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await (await browser.new_context(viewport={"width": width, "height": height}, **context)).new_page()
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda said: said.type == "error" and troubles.append(f"console: {said.text}"))
        page.on(
            "request",
            lambda asked: asked.url.startswith((slack.page_url, "data:")) or troubles.append(f"left: {asked.url}"),
        )
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.troubles = troubles
        await page.goto(slack.page_url)
        await page.wait_for_selector(".side-item", state="attached")
        try:
            yield page
        finally:
            await browser.close()
    assert troubles == []
