"""A Slack-shaped server on loopback: the demo's face and the tests' Slack.

Unmodified slack-bolt and slack_sdk talk to it (`tests/contract`). It is as strict as Slack where that is documented
or was measured, and it differs where Slack cannot be asked from here:

- Complaints about blocks follow Slack's wording and JSON pointers, not its every word; blocks the product has no use
  for (card, carousel, container, plan, task_card, video, file) are refused as unknown.
- The limit on all texts of a message's blocks (13,200) and the allowance for short bursts of posts are estimates.
- Rate limits are per method and channel; there is no limit over the whole workspace.
- One workspace, one app, one bot: no OAuth, no Enterprise organisation, no Slack Connect.
- Archiving, membership and roles that a test changed are not kept across a restart; messages, files and Homes are.
"""

from bot.workspace.acts import Outcome
from bot.workspace.settings import BOT_SCOPES, WorkspaceSettings
from bot.workspace.values import Json, Refused
from bot.workspace.workspace import Workspace

__all__ = ["BOT_SCOPES", "Json", "Outcome", "Refused", "Workspace", "WorkspaceSettings"]
