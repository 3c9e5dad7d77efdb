"""What a person asks of the one bot that announces: acknowledge, and be quiet.

Any bot may get the click; the holder of the lease does it, because it alone changes incidents.
"""

from dataclasses import dataclass
from typing import Any

from diagnosis.incidents import Act
from diagnosis.redaction import mask
from registry import Registry

ANNOUNCER = "bot/announcer"
"""The name under which the announcing bot takes requests, beside those of the watchers."""
PATIENCE_SECONDS = 3.0
"""How long a click waits for the holder's word; the act itself is done later too."""
DEADLINE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Done:
    """What the announcing bot answered."""

    is_done: bool
    owner: str = ""
    """Slack id of the person who has it, when somebody does."""
    state: str = ""
    """The incident's state after it; empty: nobody knows that incident."""


async def do_act(registry: Registry, incident: str, act: Act) -> Done | None:
    """Ask that a person's act be done to an incident; None: no answer yet."""
    # What people write goes to the channel and stays in Redis, and they paste whole lines of logs.
    payload = {"incident": incident, "by": act.by, "text": mask(act.text).text, "is_read": act.is_read}
    return await ask_announcer(registry, act.kind, payload)


async def ask_announcer(registry: Registry, act: str, payload: dict[str, Any]) -> Done | None:
    """Ask for an act; None: no answer yet, it will be done when a bot announces again (within a minute)."""
    now = await registry.now()
    request = await registry.requests.ask(ANNOUNCER, act, payload, now + DEADLINE_SECONDS)
    answers = await registry.requests.gather(request, [ANNOUNCER], now + PATIENCE_SECONDS)
    answer = answers.get(ANNOUNCER)
    if answer is None:
        return None
    body = answer.body
    return Done(bool(body.get("done")), str(body.get("owner") or ""), str(body.get("state") or ""))
