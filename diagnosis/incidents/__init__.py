"""What findings mean to people: grouping, inhibition, mutes, life cycle, timeline. Pure; time comes in as a value."""

from diagnosis.incidents.announcements import Announcement, Noted, Opened, Reason, Reminded, Resolved, Updated
from diagnosis.incidents.habits import Habits
from diagnosis.incidents.incident import Entry, Incident, State, Subject
from diagnosis.incidents.mutes import Mute
from diagnosis.incidents.people import Act
from diagnosis.incidents.tracker import Tracker

__all__ = [
    "Act",
    "Announcement",
    "Entry",
    "Habits",
    "Incident",
    "Mute",
    "Noted",
    "Opened",
    "Reason",
    "Reminded",
    "Resolved",
    "State",
    "Subject",
    "Tracker",
    "Updated",
]
