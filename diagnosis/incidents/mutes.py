"""A person's quiet for a run, until a time."""

from dataclasses import dataclass

from diagnosis.incidents.incident import Incident


@dataclass(frozen=True, slots=True)
class Mute:
    """Nothing is announced that it covers; everything is still recorded."""

    run: str
    """Empty: every run, where a node or an incident is named."""
    until: float
    """Unix seconds, on the clock of the registry."""
    by: str
    """Slack id of the person."""
    trouble: str = ""
    """Only this trouble; empty: every one."""
    reason: str = ""
    node: str = ""
    """Only what concerns this node and no other."""
    incident: str = ""
    """Only this incident, until it is over."""

    @property
    def scope(self) -> str:
        """incident, node, trouble or run."""
        named = {"incident": self.incident, "node": self.node, "trouble": self.trouble, "run": self.run}
        return next((scope for scope, name in named.items() if name), "")

    def covers(self, incident: Incident, now: float) -> bool:
        """Whether the incident stays unsaid now."""
        return (
            now < self.until
            and bool(self.scope)
            and self.run in ("", incident.run)
            and self.trouble in ("", incident.trouble)
            and self.incident in ("", incident.id)
            and (not self.node or {one.node for one in incident.subjects.values() if one.node} == {self.node})
        )
