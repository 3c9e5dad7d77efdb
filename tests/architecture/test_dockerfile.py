"""What can be checked of the images without an engine to build them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text()
STAGES = {
    match[2]: match[3]
    for match in re.finditer(r"^FROM (\S+) AS (\w+)\n(.*?)(?=^FROM |\Z)", TEXT, re.MULTILINE | re.DOTALL)
}


@pytest.mark.parametrize("target", ["bot", "watcher"])
def test_an_image_runs_as_nobody_special_with_a_health_check(target):
    """Not root, with a health check that asks our own command, and an entry point."""
    stage = STAGES[target]

    assert re.search(r"^USER runwatch$", stage, re.MULTILINE)
    assert re.search(rf'^HEALTHCHECK .*CMD \["runwatch", "health", "{target}"\]$', stage, re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["runwatch", ', stage, re.MULTILINE)


@pytest.mark.parametrize("target", ["bot", "watcher"])
def test_what_an_image_copies_is_there(target):
    """Every COPY names something in the tree, all six packages among them."""
    copied = [word for line in re.findall(r"^COPY (.*)$", STAGES[target], re.MULTILINE) for word in line.split()[:-1]]

    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"diagnosis", "registry", "watcher", "bot", "handlers", "charts"} <= set(copied)


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-dev.lock", "requirements-bot.lock", "requirements-watcher.lock"]
)
def test_a_lock_has_a_hash_for_each_package_and_no_address(lock):
    """Names, versions and hashes only: no registry's host, no path."""
    text = (ROOT / lock).read_text()
    blocks = re.split(r"\n(?=\S)", text.strip())

    assert "://" not in text
    assert all("==" in block and "--hash=sha256:" in block for block in blocks)


def test_the_watchers_lock_is_light():
    """A node installs neither Slack's libraries nor pandas nor matplotlib."""
    names = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements-watcher.lock").read_text(), re.MULTILINE))

    assert names >= {"redis", "psutil", "nvidia-ml-py"}
    assert not names & {"slack-bolt", "slack-sdk", "aiohttp", "pandas", "numpy", "matplotlib"}
