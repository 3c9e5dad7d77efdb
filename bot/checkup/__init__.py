"""What `runwatch doctor` looks at, one file for each side; every failure comes with its remedy."""

from bot.checkup.check import Check, State
from bot.checkup.node import check_node
from bot.checkup.redis import check_redis
from bot.checkup.slack import check_slack

CHECKUPS = (check_redis, check_slack, check_node)
"""Each takes the settings at hand and yields checks."""

__all__ = ["CHECKUPS", "Check", "State"]
