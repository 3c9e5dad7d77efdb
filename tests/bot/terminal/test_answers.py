"""The Slack answers in the terminal, as a person runs them."""

import asyncio
from dataclasses import replace

import pytest

from bot.cli import FAILURE, USAGE, main
from bot.records import Record, save
from bot.settings import BotSettings
from bot.terminal.loss import loss
from bot.terminal.runs import runs
from bot.terminal.snapshot import snapshot
from bot.terminal.stall import stall
from diagnosis.errors import Away, Mistake
from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Tracker
from diagnosis.observations import Heartbeat, Origin, Phase, RankProgress
from registry import connect
from tests.bot.conftest import WATCHER, a_run
from tests.bot.test_nodes import a_node


@pytest.fixture
def here(redis_url, request):
    """Settings for a registry that holds one run."""

    async def fill():
        registry = connect(redis_url)
        await a_run(registry, bad_from=151)
        if request.node.name == "test_loss_says_how_two_runs_stand":
            await a_run(registry, "run40")
        await registry.aclose()

    asyncio.run(fill())
    return BotSettings(redis_url=redis_url, ask_deadline_seconds=0.3, snapshot_deadline_seconds=0.3)


def test_loss_prints_the_sentence_and_a_curve(here, capsys):
    """The same words as in Slack, the picture in letters."""
    assert loss("run42", here) == 1

    out = capsys.readouterr().out
    assert "run42 is wrong since step 151: loss is NaN." in out
    assert "┤" in out
    assert "✕" in out


def test_loss_of_a_part_tells_the_true_start_of_the_trouble(here, capsys):
    """As in Slack."""
    assert loss("run42 --last 10", here) == 1

    assert "run42 is wrong since step 151: loss is NaN." in capsys.readouterr().out


def test_loss_says_how_two_runs_stand(here, capsys):
    """As in Slack, without the picture of both; another run that is none is answered kindly."""
    assert loss("run42 --vs run40", here) == 1
    assert "both runs stand alike" in capsys.readouterr().out

    with pytest.raises(Mistake, match="Did you mean"):
        loss("run42 --vs run4", here)
    with pytest.raises(Mistake, match="is the same run"):
        loss("run42 --vs run42", here)


def test_loss_writes_csv_to_stdout(here, capfdbinary):
    """Data on stdout, for a pipe."""
    assert loss("run42 --csv --last 10", here) == 0

    assert capfdbinary.readouterr().out.startswith(b"attempt,step,time,loss,grad_norm,lr\n")


@pytest.mark.parametrize(("question", "said"), [(stall, "run42 trains at step 200"), (runs, "1 run")])
def test_stall_and_runs_print_their_tables(here, capsys, question, said):
    """One sentence and the table."""
    assert question("run42" if question is stall else "", here) == 0

    assert said in capsys.readouterr().out


def test_a_snapshot_that_nobody_answers_says_so(here, capsys):
    """The watcher of this test does not live: nothing is claimed."""
    assert snapshot("run42 before the restart", here) == 1

    assert "0 of 1 nodes" in capsys.readouterr().out


def test_a_snapshot_prints_every_outcome(here, capsys, redis_url):
    """What Slack gets as a small text stands below the summary."""

    async def save(request):
        return {"node": "node17", "path": "/s/1", "pieces": [{"name": "disks", "outcome": "collected", "bytes": 5}]}

    async def with_a_node():
        registry = connect(redis_url)
        async with a_node(registry, save):
            await asyncio.to_thread(snapshot, "run42", replace(here, snapshot_deadline_seconds=10.0))
        await registry.aclose()

    asyncio.run(with_a_node())

    out = capsys.readouterr().out
    assert "1 of 1 nodes" in out
    assert "== node17 /s/1" in out
    assert "disks                    collected" in out


def test_a_wrong_name_is_a_mistake_with_near_ones(here):
    """As in Slack: did you mean."""
    with pytest.raises(Mistake, match="Did you mean `run42`"):
        loss("run4", here)


def test_a_registry_that_is_away_is_said(here):
    """Exit code 3, in words."""
    with pytest.raises(Away, match="does not answer"):
        runs("", BotSettings(redis_url="redis://127.0.0.1:1/0"))


@pytest.fixture
def quiet(redis_url):
    """Settings for a registry whose run printed its last step forty seconds ago."""

    async def fill():
        registry = connect(redis_url)
        now = await registry.now()
        origin = Origin("run42", WATCHER, 0, 0)
        await registry.runs.see("run42", state="running", last_step=200, last_progress=now - 40, world_size=1)
        await registry.ranks.update("run42", [RankProgress(origin, 200, now - 40, now - 40, Phase.TRAINING)])
        await registry.heartbeats.beat(Heartbeat(WATCHER, WATCHER, now, runs=("run42",)), ttl=3600)
        await registry.aclose()

    asyncio.run(fill())
    return BotSettings(redis_url=redis_url, ask_deadline_seconds=0.3, snapshot_deadline_seconds=0.3)


def test_stall_judges_by_the_settings_file_that_was_named(quiet, capsys, tmp_path):
    """The bot that was started with `--config` and a shell that names the same file say the same."""
    config = tmp_path / "mine.toml"
    config.write_text('stall_after = "8s"\nstall_min = "8s"\nstall_first_step = "8s"\n')

    assert stall("run42", quiet) == 0
    assert "run42 trains" in capsys.readouterr().out
    assert stall("run42", quiet, config) == 1
    assert "run42 has been stalled" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["loss", "runs", "snapshot", "stall"])
def test_every_question_takes_the_settings_file_that_was_named(name, monkeypatch, tmp_path):
    """The thresholds of `--config` are those of the desk that answers, whatever is asked."""
    config, seen = tmp_path / "mine.toml", []
    config.write_text('spike_z = "9"\n')
    monkeypatch.setattr(
        f"bot.terminal.{name}.{'ask' if name == 'loss' else 'answer'}", lambda *given: seen.append(given) or 0
    )

    assert main([name, *(["run42"] if name != "runs" else []), "--config", str(config)]) == 0
    assert seen[0][-1] == config


def test_stall_never_says_that_a_run_trains_while_its_stall_is_open(quiet, capsys, redis_url):
    """Its own look may still allow the silence; people were called already."""

    async def call():
        registry = connect(redis_url)
        now = await registry.now()
        found = Finding("stalled", Severity.CRITICAL, Origin("run42"), "stalled at step 200", step=200, time=now - 10)
        tracker = Tracker()
        tracker.receive("e1", found, now)
        tracker.tick(now + 3600)
        for incident in tracker.open_of("run42"):
            await save(registry, Record(incident), is_new=True)
        await registry.aclose()

    asyncio.run(call())

    assert stall("run42", quiet) == 1

    out = capsys.readouterr().out
    assert "trains" not in out
    assert "run42 is not going on (stalled)" in out


def test_loss_tells_the_state_and_the_incident_of_a_run_that_is_down(redis_url, capsys):
    """The numbers look normal to the last one; the terminal says what /runs says."""

    async def fill():
        registry = connect(redis_url)
        await a_run(registry)
        now = await registry.now()
        tracker = Tracker()
        text = "the run is down at step 200: its processes are gone"
        tracker.receive("e1", Finding("run_down", Severity.CRITICAL, Origin("run42"), text, step=200), now)
        for incident in tracker.open_of("run42"):
            await save(registry, Record(incident), is_new=True)
        await registry.aclose()

    asyncio.run(fill())

    assert loss("run42", BotSettings(redis_url=redis_url)) == 1

    out = capsys.readouterr().out
    assert "run42 is not going on (down); until step 200 its loss looked normal" in out
    assert "the run is down at step 200: its processes are gone" in out
    assert "1 open incident" in out
    assert "running" not in out


@pytest.mark.parametrize(
    ("question", "points", "code"),
    [(loss, 200, 0), (loss, 0, 1), (stall, 200, 0), (runs, 200, 0)],
    ids=["normal", "no loss", "trains", "the list"],
)
def test_a_question_ends_with_the_code_that_its_help_names(question, points, code, redis_url, capsys):
    """0 where all is well, 1 where nobody can tell; a list is no judgement."""

    async def fill():
        registry = connect(redis_url)
        if points:
            await a_run(registry, points=points)
        else:
            await registry.runs.see("run42", state="running")
        await registry.aclose()

    asyncio.run(fill())

    assert (
        question("" if question is runs else "run42", BotSettings(redis_url=redis_url, ask_deadline_seconds=0.3))
        == code
    )
    capsys.readouterr()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a person stands, with a log, a folder of logs and a folder that is called as the run is."""
    (tmp_path / "my train.log").write_text("step=1 loss=2.5\n")
    (tmp_path / "logs").mkdir()
    (tmp_path / "run42").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["loss", "stall", "snapshot"])
@pytest.mark.parametrize("is_away", [False, True], ids=["Redis answers", "Redis is away"])
def test_a_file_where_a_run_is_asked_for_is_sent_to_inspect(command, is_away, here, monkeypatch, capsys):
    """Whether or not Redis could be asked; the same for a folder, and a run of that name is a run all the same."""
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0" if is_away else here.redis_url)
    assert main([command, "my train.log"]) == USAGE
    assert "my train.log is a file; use `runwatch inspect 'my train.log'`." in capsys.readouterr().err
    assert main([command, "logs"]) == USAGE
    assert "logs is a folder; use `runwatch inspect logs`." in capsys.readouterr().err
    if not is_away and command == "loss":
        assert main([command, "run42"]) == 1
        assert "run42 is wrong since step 151" in capsys.readouterr().out
    assert main([command, "nothing.log"]) == (FAILURE if is_away else USAGE)
    assert "inspect" not in capsys.readouterr().err
