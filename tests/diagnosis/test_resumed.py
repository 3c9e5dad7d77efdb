"""A resume at a worse loss than before is said, and no other resume is."""

import math
import random

import pytest

from bot.inspect import inspect
from diagnosis.detectors.plateau import Plateau
from diagnosis.detectors.sustained import Sustained
from diagnosis.findings import Severity
from diagnosis.formats.reader import LogReader
from diagnosis.formats.source_name import origin_of
from diagnosis.judge import Judge
from diagnosis.live_judge import LiveJudge
from diagnosis.observations import AttemptMark
from tests.diagnosis.lines import RANK0, Watching, banner, cleared, course, evidence, findings, sample

SEEDS = 24
RESUME = AttemptMark(RANK0, "training resumes", evidence(2001, "Resuming training from step 1500"))
NOISES = [0.0, 0.005, 0.08, 0.4]


def level(step):
    """A loss that falls by a power of the step, as losses do."""
    return 2.2 + 6.0 * (1.0 + step / 50.0) ** -0.35


def noisy(chance, noise, wander=0.0):
    """Noise from point to point, and harder and easier stretches of data."""
    slow = 0.0
    while True:
        slow = 0.98 * slow + chance.gauss(0.0, wander * math.sqrt(1.0 - 0.98**2))
        yield chance.gauss(0.0, noise) + slow


def judged(first, later, *, begins=1501, every=1, mark=RESUME, detectors=(Sustained, Plateau)):
    """What is said after a resume at a step, the first attempt from step 1 on."""
    watching = Watching(Judge(detectors=detectors))
    watching.feed(course(first, first=every, every=every))
    return watching.feed(mark, course(later, first=begins, every=every))


def resumed(seed, *, back=500, noise=0.08, wander=0.0, points=500, every=1, change=level):
    """A run of 2000 points that goes on from so many before its end."""
    chance = random.Random(seed)
    wobble = noisy(chance, noise, wander)
    first = [level(every * place) + next(wobble) for place in range(1, 2001)]
    later = [change(every * place) + next(wobble) for place in range(2001 - back, 2001 - back + points)]
    return judged(first, later, begins=(2001 - back) * every, every=every)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("back", [0, 20, 500])
def test_a_healthy_resume_is_silent(back, noise):
    """With the same data again or other data, and where it continues right after; any noise, many seeds."""
    for seed in range(SEEDS // 8):
        assert resumed(seed, back=back, noise=noise, wander=noise / 2.0) == []


def test_a_healthy_resume_of_a_run_whose_data_is_now_hard_and_now_easy_is_silent():
    """The level wanders by more than its points vary."""
    said = [
        verdict for seed in range(SEEDS // 2) for verdict in resumed(seed, noise=0.05, wander=0.1, back=seed % 2 * 400)
    ]

    assert findings(said) == []


@pytest.mark.parametrize("high", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("length", [30.0, 60.0, 100.0])
def test_a_rise_that_heals_by_itself_is_silent(high, length):
    """As while an optimizer finds its moments again."""
    for seed in range(SEEDS // 8):
        change = lambda step: level(step) + high * math.exp(-(step - 1500) / length)  # noqa: E731
        assert resumed(seed, change=change) == []


@pytest.mark.parametrize("back", [0, 500])
@pytest.mark.parametrize("every", [1, 10])
def test_weights_that_did_not_come_back_are_a_divergence(back, every):
    """The loss begins again from above: said while it still falls, from the first step of the attempt."""
    begins = (2000 - back) * every
    said = resumed(1, back=back, every=every, change=lambda step: level(step - begins))

    (found,) = findings(said)
    assert (found.kind, found.severity, found.step) == ("divergence", Severity.CRITICAL, begins + every)
    assert found.text.startswith(f"since the resume at step {begins + every:,} the loss is ")
    assert found.text.endswith("at the same steps before" if back else "just before")
    assert found.evidence[1] == RESUME.evidence
    assert found.last_good_step == begins
    assert found.attempt == 1


@pytest.mark.parametrize("back", [0, 500])
@pytest.mark.parametrize(("shift", "noise"), [(0.15, 0.005), (0.3, 0.05), (0.6, 0.08)])
def test_a_level_that_is_higher_since_the_resume_is_said(back, shift, noise):
    """A warning with both levels, as soon as it is out of the noise and has lasted."""
    for seed in range(SEEDS // 8):
        said = resumed(seed, back=back, noise=noise, change=lambda step: level(step) + shift)

        (found,) = findings(said)
        assert (found.kind, found.severity) == ("sustained_spike", Severity.WARNING)
        now, before = float(found.details["to"]), float(found.details["from"])
        assert now - before == pytest.approx(shift, abs=0.12)
        assert not cleared(said)


def test_it_is_over_when_the_loss_comes_back():
    """Later than any optimizer needs."""
    said = resumed(1, points=1500, change=lambda step: level(step) + 1.5 * (step < 2200))

    assert [one.kind for one in findings(said)] == ["divergence"]
    assert cleared(said) == ["divergence"]


def test_a_bad_attempt_is_no_measure_for_the_next():
    """Where the next one begins as badly, it is said again; where it begins well, nothing is."""
    losses = [level(step) for step in range(1, 2001)]
    bad = [loss + 2.0 for loss in losses[1500:]]
    for third, count in ((bad, 2), (losses[1500:], 1)):
        watching = Watching(Judge(detectors=(Sustained, Plateau)))
        watching.feed(course(losses), RESUME, course(bad, first=1501), RESUME, course(third, first=1501))

        assert len(findings(watching.said)) == count


@pytest.mark.parametrize(
    ("later", "begins"),
    [
        ([9.0] * 500, 1),
        ([9.0] * 500, 10),
        ([-1.0, *[9.0] * 500], 1501),
        ([9.0] * 500, None),
    ],
    ids=["from its start", "logged every ten steps", "may be negative", "no steps"],
)
def test_what_is_no_resume_of_the_same_loss_is_not_compared(later, begins):
    """Another beginning, a policy loss, and lines without a counter."""
    first = [level(step) for step in range(1, 2001)]
    told = course(later, first=begins) if begins else [sample(None, loss) for loss in later]
    watching = Watching(Judge(detectors=(Sustained, Plateau)))
    watching.feed(course(first), banner())

    assert watching.feed(told) == []


def test_lines_of_another_program_are_not_compared():
    """An evaluation harness that counts on from the same step prints its own loss."""
    lines = [f"step={step} loss={level(step):.3f} lr=3e-4 grad_norm=0.5\n" for step in range(1, 1001)]
    other = [f"probe batch {step} cosine distance 0.1 loss 9.1 accuracy 0.5\n" for step in range(700, 1200)]
    reader, judge = LogReader("train.log", origin_of("train.log")), Judge()
    seen = reader.feed("".join([*lines, *other]).encode()) + reader.close()

    assert [found.text for one in seen for found in findings(judge.observe(one)) if "resume" in found.text] == []


def test_short_and_crashed_attempts_do_not_disturb_the_comparison():
    """A run that was started three times in vain before it went on."""
    losses = [level(step) for step in range(1, 2001)]
    watching = Watching(Judge(detectors=(Sustained, Plateau)))
    watching.feed(course(losses))
    for _ in range(3):
        watching.feed(banner(), course(losses[1500:1504], first=1501))
    watching.feed(RESUME, course([loss + 2.0 for loss in losses[1500:]], first=1501))

    (found,) = findings(watching.said)
    assert found.kind == "divergence"


def log_of(shift=0.0, back=400, lr=3e-4):
    chance = random.Random(7)
    lines = [f"step={step} loss={level(step) + chance.gauss(0, 0.03):.4f} lr=3.00e-04" for step in range(1, 2001)]
    lines.append("Resuming training from checkpoint-1600")
    lines += [
        f"step={step} loss={level(step) + shift + chance.gauss(0, 0.03):.4f} lr={lr:.2e}"
        for step in range(2001 - back, 2600)
    ]
    return lines


def test_the_answer_names_the_resume_and_what_changed_with_it(tmp_path):
    """`inspect`: the verdict, the line of the resume, and the learning rate that is another one."""
    path = tmp_path / "train.log"
    path.write_text("\n".join(log_of(shift=0.8, lr=3e-3)) + "\n")

    answer = inspect([path])

    assert answer.diagnosis.category == "loss_spike"
    assert answer.diagnosis.first_bad_step == 1601
    assert answer.diagnosis.signature == "worse_since_resume"
    assert "optimizer state" in " ".join(answer.diagnosis.next)
    changed = [change.line for change in answer.changes]
    assert "new attempt: training resumes (train.log:2001)" in changed
    assert "learning rate: 3.0e-4 → 3.0e-3 at step 1,601 (train.log:2002)" in changed


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_the_watcher_and_the_bulk_reader_say_the_same(tmp_path, shift):
    """Line by line, in stretches, and as columns."""
    text = "\n".join(log_of(shift)) + "\n"
    path = tmp_path / "train.log"
    path.write_text(text)
    reader, judge = LogReader("train.log", origin_of("train.log")), Judge()
    seen = reader.feed(text.encode()) + reader.close()
    said = [(one.kind, one.step, one.text) for each in seen for one in findings(judge.observe(each))]
    live, live_judge, heard = LogReader("train.log", origin_of("train.log")), LiveJudge(), []
    for start in range(0, len(text), 4096):
        for told in live.feed_stretches(text[start : start + 4096].encode()):
            heard += [(one.kind, one.step, one.text) for one in findings(live_judge.judge(told))]

    assert heard == said
    assert [(one.kind, one.step, one.text) for one in inspect([path]).findings] == said
    assert any("resume" in text for _, _, text in said) == bool(shift)
