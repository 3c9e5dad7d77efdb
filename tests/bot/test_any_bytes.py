"""Any bytes in any file of a case: an answer, never an error, and nothing is unpickled."""

import pickle

import pytest

from bot.inspect import inspect
from tests.mutating import CASE, cases


def write(folder, files):
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.fixture(autouse=True)
def nothing_is_unpickled(monkeypatch):
    """The dumps are read opcode by opcode; a pickle that runs code must find nobody who runs it."""

    def never(*_, **__):
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, never)


def test_the_case_is_understood_while_it_is_whole(tmp_path):
    """Every kind of evidence is in it, so that the damage below reaches every reader."""
    write(tmp_path, CASE)

    answer = inspect([tmp_path])

    kinds = {file.kind for file in answer.case.files}
    assert kinds >= {"training_log", "kernel_log", "gpu_samples", "nvidia_smi", "stacks", "process_state", "cgroup",
                     "scheduler", "nccl_ras", "flight_recorder"}  # fmt: skip
    assert next(file for file in answer.case.files if file.kind == "flight_recorder").dump is not None


@pytest.mark.parametrize("seed", range(4))
def test_damage_anywhere_is_no_error(tmp_path, seed):
    """Wounds in most files, and now and then one under another's name."""
    for number, files in enumerate(cases(8, seed)):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder, files)

        said = inspect([folder]).diagnosis.as_dict()

        assert said["confidence"] in {"high", "medium", "low"}
