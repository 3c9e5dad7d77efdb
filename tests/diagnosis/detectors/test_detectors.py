"""The list of detectors: nobody forgets a line, and every kind they say is documented."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from diagnosis.detectors import DETECTORS, detector
from diagnosis.detectors.kinds import KINDS
from diagnosis.detectors.telling_line import KIND_OF
from diagnosis.observations import Category, Observation
from diagnosis.thresholds import Thresholds

FOLDER = Path(detector.__file__).parent
SAID = re.compile(r'(?:found|over|_say|_opens|diverged)\(\s*"([a-z_]+)"')


def test_every_detector_in_the_folder_is_in_the_list():
    """A class with `observe` and `watches` in any file of the folder."""
    found = set()
    for path in sorted(FOLDER.glob("*.py")):
        module = importlib.import_module(f"diagnosis.detectors.{path.stem}")
        found |= {
            thing
            for _, thing in inspect.getmembers(module, inspect.isclass)
            if thing.__module__ == module.__name__ and hasattr(thing, "watches") and thing is not detector.Detector
        }

    assert found == set(DETECTORS)


@pytest.mark.parametrize("kind", DETECTORS, ids=lambda one: one.__name__)
def test_a_detector_starts_from_thresholds_alone(kind):
    """And is quiet about what it does not watch."""
    one = kind(Thresholds())

    assert kind.scope in ("rank", "series", "run")
    assert kind.watches
    assert one.kind


def test_every_kind_that_is_said_is_documented():
    """By a sentence, and by the category of the answer."""
    said = {name for path in FOLDER.glob("*.py") for name in SAID.findall(path.read_text())} | set(KIND_OF.values())

    assert said <= set(KINDS)
    assert {one.kind for one in DETECTORS} <= set(KINDS)
    assert all(sentence.endswith(".") and isinstance(category, Category) for category, sentence in KINDS.values())


def test_the_kinds_of_observations_are_all_known():
    """A new observation is a decision for every detector."""
    assert len(Observation.__args__) == 8
