"""/metrics: how the bot, the runs and the watchers stand, for Prometheus."""

import pytest
from aiohttp import ClientSession

from bot.app import bot_running
from tests.bot.conftest import a_run, settled
from tests.ports import free_port

pytest.importorskip("prometheus_client")
from prometheus_client.parser import text_string_to_metric_families


async def test_prometheus_is_answered(workspace, settings, registry, publish, finding):
    """What is open, who was heard, how Slack answers; in the format that Prometheus' own parser reads."""
    async with bot_running(settings(health_port=free_port(), metrics=True)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        await a_run(registry)
        await publish(finding())
        await settled(registry, 1)
        address = f"http://127.0.0.1:{running.endpoint.port}/metrics"
        async with ClientSession() as session, session.get(address) as answer:
            text = await answer.text()

    told = {sample.name: sample for family in text_string_to_metric_families(text) for sample in family.samples}
    assert told["runwatch_incidents_open"].labels == {"severity": "critical", "state": "open"}
    assert told["runwatch_incidents_open"].value == 1
    assert told["runwatch_announces"].value == told["runwatch_registry_up"].value == 1
    assert 'runwatch_slack_calls_total{method="chat.postMessage",outcome="ok"} 1.0' in text
    assert 'runwatch_watcher_age_seconds{watcher="node17"}' in text


async def test_metrics_without_the_registry_say_so(workspace, settings):
    """A scrape never fails because of it."""
    async with bot_running(
        settings(health_port=free_port(), metrics=True, redis_url="redis://127.0.0.1:1/0")
    ) as running:
        address = f"http://127.0.0.1:{running.endpoint.port}/metrics"
        async with ClientSession() as session, session.get(address) as answer:
            text = await answer.text()

    assert answer.status == 200
    assert "runwatch_registry_up 0.0" in text
