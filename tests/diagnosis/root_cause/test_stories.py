"""Every story is answered as a careful person would, whatever its files are called and however they are ordered."""

import random
from pathlib import Path

import pytest

from bot.inspect import inspect
from diagnosis.root_cause import Diagnosis
from diagnosis.signatures.xid import xid_of
from tests.diagnosis.root_cause.build import Story
from tests.diagnosis.root_cause.stories_batch import BATCH
from tests.diagnosis.root_cause.stories_beside import BESIDE
from tests.diagnosis.root_cause.stories_calm import CALM
from tests.diagnosis.root_cause.stories_clusters import CLUSTERS
from tests.diagnosis.root_cause.stories_containers import CONTAINERS
from tests.diagnosis.root_cause.stories_errors import ERRORS
from tests.diagnosis.root_cause.stories_exhibits import EXHIBITS
from tests.diagnosis.root_cause.stories_frights import FRIGHTS
from tests.diagnosis.root_cause.stories_launchers import LAUNCHERS
from tests.diagnosis.root_cause.stories_machine_reports import MACHINE_REPORTS
from tests.diagnosis.root_cause.stories_machines import MACHINES
from tests.diagnosis.root_cause.stories_memory import MEMORY
from tests.diagnosis.root_cause.stories_more import MORE
from tests.diagnosis.root_cause.stories_names import NAMES
from tests.diagnosis.root_cause.stories_others import OTHERS
from tests.diagnosis.root_cause.stories_partial import PARTIAL
from tests.diagnosis.root_cause.stories_places import PLACES
from tests.diagnosis.root_cause.stories_platforms import PLATFORMS
from tests.diagnosis.root_cause.stories_quiet import QUIET
from tests.diagnosis.root_cause.stories_reports import REPORTS
from tests.diagnosis.root_cause.stories_runtimes import RUNTIMES
from tests.diagnosis.root_cause.stories_traps import TRAPS
from tests.diagnosis.root_cause.stories_unseen import UNSEEN
from tests.diagnosis.root_cause.stories_waits import WAITS

STORIES = (
    *ERRORS,
    *MEMORY,
    *WAITS,
    *MORE,
    *EXHIBITS,
    *REPORTS,
    *MACHINE_REPORTS,
    *RUNTIMES,
    *BATCH,
    *TRAPS,
    *PLACES,
    *PLATFORMS,
    *CLUSTERS,
    *NAMES,
    *MACHINES,
    *CALM,
    *PARTIAL,
    *UNSEEN,
    *CONTAINERS,
    *FRIGHTS,
    *LAUNCHERS,
    *QUIET,
    *OTHERS,
    *BESIDE,
)


def tell(story: Story, folder: Path) -> Diagnosis:
    for name, text in story.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return inspect([folder]).diagnosis


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_story_is_understood(story: Story, tmp_path: Path):
    """Category, rank, node, first bad step and the line that shows it."""
    said = tell(story, tmp_path)

    assert str(said.category) in {story.category, *story.also}, said.because
    if not (said.culprit_rank is None and story.rank_may_be_unnamed):
        assert said.culprit_rank == story.rank, said.because
    if story.node is not None:
        assert said.culprit_node == story.node, said.because
    assert said.culprit_node not in story.innocent_nodes, said.because
    if story.step is not None:
        assert said.first_bad_step is not None
        assert story.step[0] <= said.first_bad_step <= story.step[1]
    if story.evidence:
        assert said.evidence is not None
        assert story.evidence in said.evidence.text


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_nobody_is_accused_when_files_are_missing(story: Story, tmp_path: Path):
    """With any one file gone the answer may be poorer, but it never names another rank."""
    for gone in list(story.files)[:6]:
        rest = {name: text for name, text in story.files.items() if name != gone}
        if not rest:
            continue
        folder = tmp_path / f"without-{list(story.files).index(gone)}"

        said = tell(Story(story.name, rest, story.category), folder)

        assert said.culprit_rank in {None, story.rank}, (gone, said.because)


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_names_of_files_do_not_decide(story: Story, tmp_path: Path):
    """Files that name neither rank nor node may be called anything; nobody is accused for it."""
    shuffled = list(story.files.items())
    random.Random(7).shuffle(shuffled)
    renamed = {
        (
            name
            if any(word in name for word in ("rank", "node", "trace", "describe", "dmesg"))
            else f"{place:02d}-{name}"
        ): text
        for place, (name, text) in enumerate(shuffled)
    }

    said = tell(Story(story.name, renamed, story.category), tmp_path)

    assert str(said.category) in {story.category, *story.also}, said.because
    assert said.culprit_rank in {None, story.rank}, said.because


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_who_names_nobody_says_why(story: Story, tmp_path: Path):
    """Without a rank the answer says what would have told it, unless nobody's fault is looked for."""
    said = tell(story, tmp_path)

    calm = {"none", "preempted", "init_timeout", "loss_spike", "slowdown", "node_lost", "nan_inf"}
    if said.culprit_rank is None and str(said.category) not in calm:
        assert any(item.startswith("which ") for item in said.unknown), said.unknown


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_without_the_deciding_line_nobody_else_is_named(story: Story, tmp_path: Path):
    """What is left of a story of one rank may name nobody, or the same; never another rank."""
    said = tell(story, tmp_path / "whole")
    if said.evidence is None or said.culprit_rank is None:
        return
    telling = said.evidence.text.strip()[:60]
    rest = {
        name: "\n".join(line for line in text.split("\n") if telling not in line) if isinstance(text, str) else text
        for name, text in story.files.items()
    }

    left = tell(Story(story.name, rest, story.category), tmp_path / "rest")

    assert left.culprit_rank in {None, story.rank}, left.because


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_log_that_is_cut_accuses_nobody_else(story: Story, share: float, tmp_path: Path):
    """Whoever looks early, or copies half a file, gets a poorer answer and no wrong one."""
    cut = {name: text[: int(len(text) * share)] for name, text in story.files.items()}
    whole = tell(story, tmp_path / "whole")

    said = tell(Story(story.name, cut, story.category), tmp_path / "cut")

    assert said.culprit_rank in {None, story.rank, *whole.suspects}, said.because


def test_an_xid_is_explained_not_looked_up(tmp_path: Path):
    """At 3 a.m. the number's meaning and what to do stand in the answer."""
    line = "Mar 14 09:11:02 gpu07 kernel: NVRM: Xid (PCI:0000:40:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"

    said = tell(Story("an xid", {"gpu07.dmesg.txt": line}, "gpu_hardware"), tmp_path)

    assert any(f"Xid 79: {xid_of(79).meaning}" in reason for reason in said.because)
    assert any(step.lower().startswith(xid_of(79).action) for step in said.next), said.next
