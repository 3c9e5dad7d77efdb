"""Secrets of every kind that training jobs print, planted in logs and cut by chunk borders: none can be read after."""

from benchmarks.planting import KINDS, healthy, planted
from benchmarks.redaction import leaks, wrongly_masked
from diagnosis.redaction import MaskingStream


def test_no_planted_secret_can_be_read(monkeypatch):
    """A tenth of what `python -m benchmarks.redaction` does (RELIABILITY A29)."""
    assert leaks(20_000) == {}
    assert len(KINDS) >= 25


def test_healthy_lines_stay_as_they_are():
    """Hashes, UUIDs, checkpoints, base64 and the words of tokenizers (RELIABILITY A30)."""
    assert wrongly_masked(healthy(100_000, 2)) == []


def test_wherever_a_stream_is_cut_no_secret_is_read():
    """Each kind once, cut before each of its letters."""
    for one in planted(len(KINDS), 3):
        data = one.text.encode()
        for border in range(one.at, one.at + len(one.secret)):
            stream = MaskingStream()
            out = stream.feed(data[:border]) + stream.feed(data[border:]) + stream.close()
            assert not one.is_in(out.decode()), (one.kind, border)
