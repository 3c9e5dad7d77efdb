"""The lists of dialects hold every file of the folder, and what they hold keeps its word."""

import pkgutil
from importlib import import_module

from diagnosis.formats import dialects
from diagnosis.formats.dialects import FORMATS, RECORDS

HELPERS = {"epochs", "general"}


def test_every_file_of_the_folder_stands_in_a_list():
    """A dialect nobody can speak is a forgotten line."""
    names = {name for _, name, _ in pkgutil.iter_modules(dialects.__path__)} - HELPERS
    listed = set()
    for name in names:
        module = import_module(f"diagnosis.formats.dialects.{name}")
        found = [*getattr(module, "FORMATS", ()), *getattr(module, "RECORDS", ())]
        assert found, name
        assert all(one in FORMATS or one in RECORDS for one in found), name
        listed.update(id(one) for one in found)

    assert listed == {id(one) for one in (*FORMATS, *RECORDS)}
