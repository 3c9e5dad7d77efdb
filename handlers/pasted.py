"""The text of a Slack message as it was before Slack wrote it down."""

import re
from html import unescape

_LINK = re.compile(r"<(?:https?://|mailto:|tel:)[^|>]*\|([^>]*)>|<((?:https?://|mailto:|tel:)[^|>]*)>")
_FENCE = re.compile(r"^```\n?|\n?```$|^`(?=[^`]+`$)|(?<=[^`])`$", re.MULTILINE)


def pasted_text(text: str) -> str:
    """Without fences, links and entities."""
    plain = _LINK.sub(lambda link: link[1] if link[1] is not None else link[2], text)
    return unescape(_FENCE.sub("", plain)).strip("\n")
