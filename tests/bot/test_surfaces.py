"""Every surface as a person uses it: in the page of the workspace, with the real bot behind it."""

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bot.app import bot_running
from bot.manifest import manifest
from bot.workspace import Workspace
from handlers.messages.languages import speak
from tests.bot.chinese import english_in
from tests.bot.conftest import a_run, settled
from tests.bot.workspace.browser import browser_page
from tests.servers import PATIENT

MORE = 'summary[aria-label="More actions"].button'
SHOTS = os.environ.get("RUNWATCH_SHOTS")
"""A folder for screenshots, for people who look."""


@pytest.fixture
async def workspace():
    """A workspace with the app that the manifest describes."""
    async with Workspace.start(manifest=manifest(), **PATIENT) as slack:
        yield slack


@pytest.fixture
async def scene(workspace, settings, registry, publish, finding):
    """A bot, a run in trouble, another that trains."""
    async with bot_running(settings(home_refresh_seconds=0.5)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry, bad_from=151)
        await a_run(registry, "llama-7b")
        await registry.runs.update("run42", owner="alice", total_steps=1000, step_seconds=2.5)
        await publish(finding(step=151, line="step=151 loss=nan"))
        await settled(registry, 1)
        yield workspace.messages()[0]["ts"]


async def shot(page, name):
    if SHOTS:
        await page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


async def choose(menu, item, name=""):
    """Open a menu and choose from it; a message that is drawn anew meanwhile has closed it."""
    from playwright.async_api import TimeoutError as NotThere  # noqa: PLC0415 - not everybody has it

    async with asyncio.timeout(60):
        while True:
            if not await item.is_visible():
                await menu.click()
            if name:
                await shot(menu.page, name)
            with suppress(NotThere):
                return await item.click(timeout=3000)


async def test_a_note_is_written_in_the_form(workspace, scene):
    """Three dots, the form, the thread."""
    async with browser_page(workspace) as page:
        root = page.locator(f'[data-ts="{scene}"]').first
        await choose(root.locator(MORE), root.get_by_text("Write a note…"), "menu")
        await page.locator("dialog textarea").fill("batch 7 is broken")
        await shot(page, "note")
        await page.get_by_role("button", name="Write", exact=True).click()
        await page.locator("dialog#modal[open]").wait_for(state="detached")
        await workspace.until(lambda: [one for one in workspace.replies(scene) if "batch 7" in one["text"]])
        await shot(page, "noted")


async def test_quiet_is_chosen_in_the_form(workspace, scene):
    """What, how long, why."""
    async with browser_page(workspace) as page:
        root = page.locator(f'[data-ts="{scene}"]').first
        await choose(root.locator(MORE), root.get_by_text("Mute…"))
        await page.locator('dialog select[data-action="scope"]').select_option("trouble")
        await page.locator('dialog select[data-action="span"]').select_option("4h")
        await shot(page, "mute")
        await page.get_by_role("button", name="Mute", exact=True).click()
        await workspace.until(lambda: "quiet until" in str(workspace.messages()[0]["blocks"]))


async def test_home_finds_a_run_while_typing(workspace, scene):
    """The dashboard, the menu, the window."""
    async with browser_page(workspace) as page:
        await page.locator('a[href="#app"]').click()
        await page.get_by_text("1 incident open").wait_for()
        await shot(page, "home")
        await page.locator('[data-action="choose_run"]').fill("lla")
        await page.get_by_role("option", name="llama-7b").click()
        await (
            page.locator("dialog#modal")
            .get_by_text("trains")
            .or_(page.locator("dialog#modal").get_by_text("running"))
            .first.wait_for()
        )
        await shot(page, "run-card")


async def test_a_message_is_diagnosed_from_its_menu(workspace, scene):
    """Paste a log, press the shortcut, read the answer below."""
    said = await workspace.say("```[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.```")
    async with browser_page(workspace) as page:
        message = page.locator(f'[data-ts="{said}"]').first
        await message.hover()
        diagnose = message.get_by_role("button", name="Runwatch: diagnose")
        await choose(message.locator('.tools summary[aria-label="More actions"]'), diagnose)
        await workspace.until(lambda: [one for one in workspace.replies(said) if "out of memory" in one["text"]])
        await message.locator("button.replies").click()
        await page.locator("#thread").get_by_text("GPU out of memory").first.wait_for()
        await shot(page, "diagnosed")


@pytest.mark.scenario
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_page_is_read_in_both_languages(  # noqa: PLR0917 - fixtures
    workspace, settings, registry, publish, finding, language
):
    """A thread, answers, a form and Home: nothing wider than the page, and nothing English where Chinese is spoken."""
    try:
        async with bot_running(settings(language=language, home_refresh_seconds=0.5)) as running:
            await workspace.until(lambda: running.identity.team)
            await workspace.connected()
            await a_run(registry, bad_from=151)
            await a_run(registry, "llama-7b")
            await registry.runs.update("run42", owner="alice", total_steps=1000, step_seconds=2.5)
            details = {"last_good_step": "150", "last_good_loss": "2.62", "checkpoint": "100"}
            changes = ("learning rate: 3.0e-4 → 3.0e-3 at step 148 (train.log:148)",)
            text = "loss is NaN since step 151; last good: step 150 with loss 2.62"
            for rank in (3, 4):
                made = finding(step=151, rank=rank, line="step=151 loss=nan", text=text)
                await publish(replace(made, details=details, changes=changes, rule="first non-finite train loss"))
            await settled(registry, 2)
            for command, words in (("/runs", ""), ("/loss", "llama-7b"), ("/runwatch", "help")):
                await workspace.slash(command, words)
            await workspace.until(lambda: len([one for one in workspace.messages() if not one.get("files")]) >= 3)
            await workspace.until(workspace.ephemerals)
            await workspace.until(lambda: [one for one in workspace.all_messages() if one.get("files")])
            async with browser_page(workspace) as page:
                root = page.locator(f'[data-ts="{workspace.messages()[0]["ts"]}"]').first
                await root.scroll_into_view_if_needed()
                await shot(page, f"thread-{language}")
                await page.locator(".message").last.scroll_into_view_if_needed()
                await shot(page, f"answers-{language}")
                mute = root.get_by_text("Mute…" if language == "en" else "静音…", exact=True)
                await choose(root.locator(MORE), mute)
                await page.locator("dialog#modal[open]").wait_for()
                await shot(page, f"mute-{language}")
                await page.keyboard.press("Escape")
                await page.locator('a[href="#app"]').click()
                await page.get_by_text("1 incident open" if language == "en" else "1 个未解决的事件").wait_for()
                await shot(page, f"home-{language}")
                assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
                home = await page.locator("main").inner_text() if await page.locator("main").count() else ""
            assert language == "en" or [line for line in home.splitlines() if english_in(line)] == []
    finally:
        speak("en")
