"""Do the tokens work, are the scopes there, may we speak in the channel?"""

from collections.abc import AsyncIterator

from bot.checkup.check import Check, fine, not_looked, warning, wrong
from bot.checkup.patient import Patient
from bot.manifest import BOT_SCOPES, OPTIONAL_SCOPES
from bot.slack import Slack
from bot.slack_answers import NotAnswered
from diagnosis.errors import Mistake


async def check_slack(patient: Patient) -> AsyncIterator[Check]:
    """auth.test with its scopes, a socket address, the default channel."""
    settings = patient.bot
    if not settings.slack_bot_token:
        yield not_looked("Slack", "no SLACK_BOT_TOKEN here (a node needs none)")
        return
    try:
        settings.check_tokens()
    except Mistake as mistake:
        yield wrong("Slack tokens", str(mistake), "Run `runwatch manifest` and follow docs/slack.md.")
    slack = Slack(settings.slack_bot_token, settings.slack_api_url, deadline_seconds=10.0)
    try:
        async for check in _look(patient, slack):
            yield check
    finally:
        await slack.aclose()


async def _look(patient: Patient, slack: Slack) -> AsyncIterator[Check]:
    answer = await slack.call("auth.test", {})
    if not answer.is_ok:
        yield wrong(
            "Slack", f"auth.test: {answer.error}", "Check SLACK_BOT_TOKEN, and that this machine reaches Slack."
        )
        return
    yield fine("Slack", f"signed in to {answer.data.get('team')} as {answer.data.get('user')}")
    found = await slack.client.api_call("auth.test")
    scopes = {scope.strip() for scope in (found.headers or {}).get("X-OAuth-Scopes", "").split(",") if scope.strip()}
    missing = [scope for scope in BOT_SCOPES if scope not in scopes]
    if scopes and missing:
        yield wrong("scopes", f"missing: {', '.join(missing)}", "Add them in the app's settings and install it again.")
    elif scopes:
        optional = [scope for scope in OPTIONAL_SCOPES if scope not in scopes]
        yield warning("scopes", f"without {', '.join(optional)}") if optional else fine("scopes", "all there")
    async for check in _look_at_socket(patient):
        yield check
    async for check in _look_at_channel(patient, slack):
        yield check


async def _look_at_socket(patient: Patient) -> AsyncIterator[Check]:
    settings = patient.bot
    if not settings.slack_app_token:
        yield fine("transport", f"signed HTTP on port {settings.http_port}")
        return
    app = Slack(settings.slack_app_token, settings.slack_api_url, deadline_seconds=10.0)
    try:
        answer = await app.call("apps.connections.open", {})
    finally:
        await app.aclose()
    if answer.is_ok:
        yield fine("transport", "Socket Mode opens")
    else:
        remedy = "The app-level token needs the scope connections:write, and Socket Mode must be on in the app."
        yield wrong("transport", f"apps.connections.open: {answer.error}", remedy)


async def _look_at_channel(patient: Patient, slack: Slack) -> AsyncIterator[Check]:
    name = patient.bot.channel
    if not name:
        yield warning("channel", "no RUNWATCH_CHANNEL", "Set it to the channel for runs that have none of their own.")
        return
    try:
        channel = await slack.channel_id(name)
    except NotAnswered as silent:
        yield wrong("channel", str(silent), "Look again when Slack answers.")
        return
    if channel is None:
        yield wrong("channel", f"there is no channel {name} that we can see", "Invite the app: /invite @runwatch.")
        return
    answer = await slack.call("conversations.info", {"channel": channel}, as_json=False)
    about = answer.data.get("channel", {}) if answer.is_ok else {}
    if not answer.is_ok:
        yield wrong("channel", f"{name}: {answer.error}", "Invite the app there: /invite @runwatch.")
    elif about.get("is_archived"):
        yield wrong("channel", f"{name} is archived", "Set RUNWATCH_CHANNEL to another one.")
    elif not about.get("is_member"):
        yield wrong("channel", f"we are not in {name}", "Invite the app there: /invite @runwatch.")
    else:
        yield fine("channel", f"we may speak in {name}")
