"""Names that people can type in Slack: a run that nobody can name can be asked about by nobody."""

LONGEST = 100
_REFUSED = "<>&`\"'“”‘’|*~"
"""Slack reads these as its own, or makes other letters of them."""


def why_refused(name: str) -> str | None:
    """Why a configured run may not be called so, in the words of one sentence; None: it may."""
    if not name.strip():
        return "a run needs a name"
    if len(name) > LONGEST:
        return f"its name has {len(name):,} letters; at most {LONGEST} can be read in Slack"
    if not name.isprintable():
        return "its name holds a line break, a control character or one that cannot be seen"
    if found := next((letter for letter in name if letter in _REFUSED), None):
        return f"its name holds {found}, which Slack does not leave as it is"
    if name != name.strip():
        return "its name begins or ends with a space"
    if name.startswith(("-", "@", "#", "/")):
        return f"its name begins with {name[0]}, which reads as something else in a command"
    if ".." in name.split("/"):
        return "its name holds .. as a folder"
    return None


def is_several_words(name: str) -> bool:
    """Whether people must put it into quotes."""
    return " " in name
