"""A job that prints secrets of every kind: none of them can be read anywhere but in its own log (A29, end to end)."""

import json
import os
import time

import pytest
from redis import Redis

from benchmarks.planting import planted
from tests.scenarios.product import Product
from tests.scenarios.room import until

pytestmark = pytest.mark.scenario

EACH = int(os.environ.get("RUNWATCH_TEST_SECRETS", "380"))
ALONE = "private key without"
"""A key that was cut is known as one at the edge of its file only."""
STEP = "step {number}/90000 loss {loss} grad_norm 1.0 lr 1e-4\n"


@pytest.fixture
def product(tmp_path):
    with Product(tmp_path) as made:
        yield made


@pytest.fixture
def job(product):
    """Logs with so many secrets between their steps; the secrets."""
    secrets = list(planted(EACH, seed=29))
    logs = product.home / "logs"
    logs.mkdir()
    for number, one in enumerate(one for one in secrets if one.kind.startswith(ALONE)):
        (logs / f"key{number}.log").write_text(one.text)
    with (logs / "rank0.log").open("w") as log:
        for number, one in enumerate(one for one in secrets if not one.kind.startswith(ALONE)):
            log.write(STEP.format(number=number, loss=2.5) + one.text)
    return secrets


def goes_wrong(product, secrets, first):
    """The loss is NaN, and an exception tells secrets, as those of trainers do."""
    told = [one for one in secrets if "\n" not in one.secret][:60]
    with (product.home / "logs" / "rank0.log").open("a") as log:
        for number, one in enumerate(told):
            log.write(STEP.format(number=first + number, loss="nan") + one.text)
        log.write('Traceback (most recent call last):\n  File "/opt/train.py", line 3, in <module>\n')
        for one in told[:10]:
            log.write(f"requests.exceptions.HTTPError: 401 for {one.text.strip()}\n")
        log.write(f"RuntimeError: CUDA out of memory; config was {told[3].text.strip()}\n")


@pytest.mark.timeout(300 + EACH // 5)
def test_no_secret_of_a_job_can_be_read_anywhere_else(product, job):
    """Not in Slack or its files, not in Redis, not in a snapshot, not in what our own processes print or keep."""
    typed = next(one for one in planted(100, seed=30) if one.kind == "W&B by its name")
    product.open()
    product.start_bot(RUNWATCH_SNAPSHOT_DEADLINE="60s", RUNWATCH_ADMINS="U0ALICE")
    product.start_watcher("node01", {"run42": f"{product.home}/logs/*.log"}, RUNWATCH_START_FROM="start")
    product.connected()
    until(lambda: spoken(product, "/runs", "run42"), what="the run is known")
    goes_wrong(product, job, EACH)
    until(product.slack.incidents, what="an incident")
    for command, words in (
        ("/stall", "run42"),
        ("/loss", "run42"),
        ("/runwatch", "report run42"),
        ("/runwatch", "checklist run42"),
        ("/runwatch", "audit"),
        ("/snapshot", f"run42 before the restart, {typed.text.strip()}"),
    ):
        product.slack.slash(command, words)
    until(lambda: "Snapshot of run42:" in json.dumps(product.slack.messages()), 90, what="the snapshot")
    time.sleep(5)

    places = {
        "Slack": files(product.home / "workspace") + json.dumps(product.slack.ephemerals(), ensure_ascii=False),
        "Redis": everything(Redis.from_url(product.redis.url)),
        "the node": files(product.state_of("node01")),
        "our own logs": "".join(product.said(name) for name in product.members),
    }
    leaks = [(where, one.kind) for where, text in places.items() for one in [*job, typed] if one.is_in(text)]
    assert leaks == []
    log = files(product.home / "logs")
    assert all(one.is_in(log) for one in job)
    assert all(len(text) > least for text, least in zip(places.values(), (10_000, 5_000, 100_000, 0), strict=True))
    (manifest,) = product.state_of("node01").glob("**/manifest.json")
    assert json.loads(manifest.read_text())["masked"] >= EACH / 3  # a busy node saves less of each log


def spoken(product, command, words):
    product.slack.slash(command)
    time.sleep(1)
    return words in json.dumps(product.slack.messages() + product.slack.ephemerals())


def files(folder):
    """The text of every file below a folder."""
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


def everything(client):
    """Every value of every key."""
    read = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"stream": client.xrange,
    }
    return "".join(f"{key!r} {read[client.type(key)](key)!r}\n" for key in client.scan_iter())
