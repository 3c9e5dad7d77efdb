"""Whatever numbers a log holds, nothing here raises, and what is said has its evidence."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.changes import Changes
from diagnosis.findings import Finding
from diagnosis.judge import Judge
from diagnosis.observations import Category, Origin, Phase, PhaseMark, Role, StepSample
from diagnosis.summary import LossSummary
from diagnosis.thinning import Thinner
from tests.counts import examples
from tests.diagnosis.lines import banner, evidence, rank, skip, symptom

NUMBERS = st.one_of(
    st.none(),
    st.floats(),
    st.sampled_from([0.0, -1.0, 2.3, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")]),
)
STEPS = st.one_of(st.none(), st.integers(-5, 400), st.integers(-(10**18), 10**18))
ORIGINS = st.sampled_from([Origin(), rank(0), rank(1)])
NAMES = (
    "loss_scale", "skipped_steps", "skipped_total", "nan_iterations", "nan_total", "batch_size", "sequence_length",
    "epoch", "tokens_per_second", "step_seconds", "eval_loss", "mfu",
)  # fmt: skip
SAMPLES = st.builds(
    StepSample,
    ORIGINS,
    STEPS,
    st.sampled_from(["printed", "implied", "samples", "ordinal", "none"]),
    NUMBERS,
    st.integers(1, 99).map(evidence),
    NUMBERS,
    NUMBERS,
    st.one_of(st.none(), st.floats(0, 4e9)),
    st.none(),
    st.dictionaries(st.sampled_from(NAMES), st.floats(), max_size=4),
)
OTHERS = st.one_of(
    st.builds(skip, st.one_of(st.none(), st.integers(0, 500)), scale=st.one_of(st.none(), st.floats())),
    st.builds(banner, origin=ORIGINS),
    st.builds(symptom, role=st.sampled_from(Role), category=st.sampled_from(Category), origin=ORIGINS),
    st.builds(PhaseMark, ORIGINS, st.sampled_from(Phase), st.booleans(), st.integers(1, 9).map(evidence)),
)


@settings(max_examples=examples(150))
@given(st.lists(st.one_of(SAMPLES, SAMPLES, SAMPLES, OTHERS), max_size=300))
def test_nothing_raises(observations):
    """Extremes, holes, steps that go anywhere, marks at any time."""
    judge, summary, thinner = Judge(), LossSummary(), Thinner(16)
    changes = Changes(judge.attempts)
    for seen in observations:
        said = judge.observe(seen)
        summary.observe(seen)
        summary.note(said)
        changes.observe(seen)
        changes.note(said)
        if isinstance(seen, StepSample) and seen.loss is not None:
            thinner.add(seen.step if seen.step is not None else 0, seen.loss, seen.time)
        for verdict in said:
            if isinstance(verdict, Finding):
                assert verdict.evidence
                assert verdict.text
                assert len(changes.around(verdict.step, attempt=verdict.attempt)) <= 5

    json.dumps(summary.as_dict(), allow_nan=False)
    assert judge.attempts.spans() is not None
    assert len(thinner.series("loss").values) <= 16 + 2


@settings(max_examples=examples(60))
@given(st.lists(st.floats(min_value=1.5, max_value=3.0), min_size=250, max_size=400))
def test_a_calm_run_is_never_paged_for(losses):
    """Noise within the band of a run raises nothing louder than information."""
    judge = Judge()
    said = []
    for step, loss in enumerate(losses, start=1):
        said += judge.observe(StepSample(rank(0), step, "printed", loss, evidence(step), 1.0, 1e-4))

    assert [one.kind for one in said if isinstance(one, Finding) and one.severity != "info"] == []
