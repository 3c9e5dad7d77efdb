"""What a log says: who wrapped the line (envelopes), and what the line means (dialects)."""

from diagnosis.formats.memory import Unread
from diagnosis.formats.reader import LogReader, Position
from diagnosis.formats.settings import ReadSettings
from diagnosis.formats.source_name import origin_of
from diagnosis.formats.user_pattern import RefusedPattern, UserPattern

__all__ = ["LogReader", "Position", "ReadSettings", "RefusedPattern", "Unread", "UserPattern", "origin_of"]
