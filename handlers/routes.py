"""Which channel hears of a run: told for its name, by the run itself, by label, owner or pattern, else the default."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from handlers.arguments import WrongWords
from registry import Run

LONGEST_RULE = 150
LABEL, OWNER = "label:", "owner:"


@dataclass(frozen=True, slots=True)
class Route:
    """A rule and its channel."""

    rule: str
    """A run's name, a pattern such as `llama-*`, `label:team=vision`, `owner:bob`."""
    channel: str
    by: str = ""

    @property
    def rank(self) -> int:
        """Which kind of rule goes first; the run's own word stands after its exact name."""
        if self.rule.startswith(LABEL):
            return 2
        if self.rule.startswith(OWNER):
            return 3
        return 4 if set(self.rule) & set("*?[") else 0

    def covers(self, run: Run) -> bool:
        """Whether the rule means this run."""
        if self.rule.startswith(LABEL):
            name, _, value = self.rule.removeprefix(LABEL).partition("=")
            told = run.labels.get(name)
            return told is not None and fnmatchcase(told.lower(), value.lower() or "*")
        if self.rule.startswith(OWNER):
            return (run.owner or "").lower() == self.rule.removeprefix(OWNER).lower()
        return fnmatchcase(run.name.lower(), self.rule.lower())


def channel_for(run: Run, routes: Mapping[str, Mapping[str, Any]], default: str) -> str:
    """Where the incidents of a run are told; of patterns the longest counts."""
    return next(_candidates(run, routes), default)


def read_rule(word: str) -> str:
    """A rule as typed.

    Raises:
        WrongWords: It can mean no run.
    """
    rule = word.strip("`*" if word.count("*") > 1 and word.startswith("*") and word.endswith("*") else "`")
    lowered = rule.lower()
    if lowered.startswith(LABEL) and not lowered.removeprefix(LABEL).partition("=")[0]:
        raise WrongWords("A label is named so: `label:team=vision`.")
    if lowered.startswith(OWNER) and not lowered.removeprefix(OWNER):
        raise WrongWords("An owner is named so: `owner:bob`.")
    if not rule or len(rule) > LONGEST_RULE:
        raise WrongWords(f"A rule is a run's name or a pattern of at most {LONGEST_RULE} characters: `llama-*`.")
    for kind in (LABEL, OWNER):
        if lowered.startswith(kind):
            return kind + rule[len(kind) :]
    return rule


def routes_of(records: Mapping[str, Mapping[str, Any]]) -> list[Route]:
    """Every rule that can be read, in the order in which they are asked."""
    found = [
        Route(rule, str(record["channel"]), str(record.get("by") or ""))
        for rule, record in records.items()
        if record.get("channel")
    ]
    return sorted(found, key=lambda route: (route.rank, -len(route.rule), route.rule))


def _candidates(run: Run, routes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    mine = _covering(run, routes)
    yield from (route.channel for route in mine if route.rank == 0)
    if run.channel:
        yield run.channel
    yield from (route.channel for route in mine)


def _covering(run: Run, routes: Mapping[str, Mapping[str, Any]]) -> list[Route]:
    return [route for route in routes_of(routes) if route.covers(run)]
