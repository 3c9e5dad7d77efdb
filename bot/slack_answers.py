"""What a call to Slack came to, in five words: done, unclear, away, limited, refused.

Only `unclear` is dangerous: the call may have been done. Whoever repeats it looks first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

DEFAULT_WAIT_SECONDS = 5.0
"""After a 429 that does not say how long."""


class Outcome(StrEnum):
    """What became of a call."""

    OK = "ok"
    UNCLEAR = "unclear"
    """It may have been done: timeout, reset, 5xx, something that is no answer."""
    AWAY = "away"
    """It was surely not done: nobody was reached."""
    LIMITED = "limited"
    """It was not done; Slack says when to come again."""
    REFUSED = "refused"
    """Slack said no, and why."""
    FENCED = "fenced"
    """We did not send it: the right to do so had passed to another bot."""


TIMED_OUT = "no answer in time"
UNCLEAR_ERRORS = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable", "operation_timeout"}
)
TOKEN_ERRORS = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
    }
)
CHANNEL_ERRORS = frozenset(
    {
        "cannot_reply_to_message",
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
    }
)
SHAPE_ERRORS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"})
GONE_ERRORS = frozenset({"cant_update_message", "edit_window_closed", "message_not_found", "thread_not_found"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    outcome: Outcome
    data: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    """Slack's word, or ours for what happened on the way."""
    retry_after: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Whether it was done."""
        return self.outcome is Outcome.OK

    @property
    def is_answer(self) -> bool:
        """Whether Slack said anything that means something."""
        return self.outcome in {Outcome.OK, Outcome.LIMITED, Outcome.REFUSED}

    @property
    def is_timeout(self) -> bool:
        """Whether we gave up waiting; the other side may not have."""
        return self.error == TIMED_OUT

    @property
    def needs_token(self) -> bool:
        """Whether nothing can be sent until a person mends the token."""
        return self.outcome is Outcome.REFUSED and self.error in TOKEN_ERRORS

    @property
    def needs_channel(self) -> bool:
        """Whether this channel takes nothing from us."""
        return self.outcome is Outcome.REFUSED and self.error in CHANNEL_ERRORS

    @property
    def needs_shape(self) -> bool:
        """Whether a shorter, plainer message would be taken."""
        return self.outcome is Outcome.REFUSED and self.error in SHAPE_ERRORS

    @property
    def is_gone(self) -> bool:
        """Whether what should be changed or answered is no longer there."""
        return self.outcome is Outcome.REFUSED and self.error in GONE_ERRORS


class NotAnswered(Exception):
    """Slack could not be asked; later it may be."""

    def __init__(self, method: str, answer: Answer) -> None:
        super().__init__(f"{method}: {answer.error or answer.outcome}")
        self.retry_after = max(1.0, answer.retry_after)


FENCED = Answer(Outcome.FENCED, error="the right to announce passed to another bot")


def answer_of(data: object, status: int, headers: Mapping[str, str], now: float) -> Answer:
    """Classify an answer that arrived."""
    body = data if isinstance(data, dict) else {}
    error = str(body.get("error", ""))
    if status == 429 or error in ("ratelimited", "rate_limited"):
        return Answer(Outcome.LIMITED, body, "ratelimited", wait_of(headers.get("Retry-After"), now))
    if status >= 500 or error in UNCLEAR_ERRORS or not isinstance(body.get("ok"), bool):
        return Answer(Outcome.UNCLEAR, body, error or f"status {status} without an answer of Slack's")
    if body["ok"] and status == 200:
        return Answer(Outcome.OK, body)
    return Answer(Outcome.REFUSED, body, error or f"status {status}")


def answer_of_failure(failure: Exception, now: float) -> Answer:
    """Classify a call that raised."""
    if isinstance(failure, SlackApiError):
        found = failure.response
        status = int(getattr(found, "status_code", 0) or getattr(found, "status", 0) or 0)
        return answer_of(getattr(found, "data", None), status, dict(getattr(found, "headers", None) or {}), now)
    if isinstance(failure, aiohttp.ClientConnectorError | aiohttp.InvalidURL):
        return Answer(Outcome.AWAY, error=f"Slack is not reachable ({type(failure).__name__})")
    if isinstance(failure, TimeoutError):
        return Answer(Outcome.UNCLEAR, error=TIMED_OUT)
    if isinstance(failure, aiohttp.ClientError | OSError | SlackClientError | AttributeError | ValueError):
        # AttributeError: slack_sdk stumbles over an answer that is text where JSON belongs.
        return Answer(Outcome.UNCLEAR, error=f"the connection broke ({type(failure).__name__})")
    raise failure


def wait_of(header: str | None, now: float) -> float:
    """How long a Retry-After asks to wait: seconds, a date, or nothing useful."""
    if header is None:
        return DEFAULT_WAIT_SECONDS
    try:
        return max(1.0, float(header))
    except ValueError:
        pass
    try:
        return max(1.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return DEFAULT_WAIT_SECONDS
