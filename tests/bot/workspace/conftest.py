"""A workspace to look into."""

import aiohttp
import pytest

from tests.contract.conftest import ack_seconds, client, share_seconds, slack  # noqa: F401 - the fixtures of the contract tests


@pytest.fixture
async def http():
    """A plain HTTP client."""
    async with aiohttp.ClientSession() as session:
        yield session
