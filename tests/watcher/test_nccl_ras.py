"""NCCL's RAS is asked over a real socket, twice, and only where that is known not to hurt."""

import socket
import threading
import tracemalloc
from contextlib import suppress

import pytest

from watcher import nccl_ras

STATUS = "Job summary\n===========\n\nCommunicators... (0.00s)\n=============\n"


class StandIn:
    """Speaks the protocol of RAS as its documentation tells it; `says` decides what it answers."""

    def __init__(self, says):
        self.asked = []
        self._says = says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with suppress(ConnectionError), connection, connection.makefile("rwb", buffering=0) as stream:
                for line in stream:
                    self.asked.append(line.decode().strip())
                    answer = self._says(self.asked[-1])
                    if answer is None:
                        break
                    stream.write(answer.encode())
                    if self.asked[-1].endswith("STATUS"):
                        break

    def close(self):
        self._listener.close()


def speaks(line):
    if line.startswith("CLIENT PROTOCOL"):
        return "SERVER PROTOCOL 2\n"
    return "OK\n" if line.startswith("TIMEOUT") else STATUS


@pytest.fixture
def stand_in():
    made = []

    def make(says=speaks):
        made.append(StandIn(says))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def asked_of(monkeypatch):
    def ask(stand_in, version=(2, 28, 9)):
        monkeypatch.setattr(nccl_ras, "version_of", lambda pids: version)
        told = {"NCCL_RAS_ADDR": f"127.0.0.1:{stand_in.port}"}
        monkeypatch.setattr(nccl_ras, "first_of", lambda pids, name: told.get(name))
        monkeypatch.setattr(nccl_ras, "APART_SECONDS", 0.01)
        return nccl_ras.ask([1])

    return ask


def test_it_is_asked_twice(stand_in, asked_of):
    """What moves between two answers does not stand."""
    ras = stand_in()

    answers, why = asked_of(ras)

    assert [answer.text for answer in answers] == [STATUS, STATUS]
    assert why == ""
    assert ras.asked[:3] == ["CLIENT PROTOCOL 2", "TIMEOUT 1", "VERBOSE STATUS"]


@pytest.mark.parametrize("version", [None, (2, 21, 5), *sorted(nccl_ras.CRASHES)])
def test_a_version_that_may_not_bear_it_is_never_asked(stand_in, asked_of, version):
    """Not even connected to; and the answer says so."""
    ras = stand_in()

    answers, why = asked_of(ras, version)

    assert answers == ()
    assert "was not asked" in why
    assert ras.asked == []


@pytest.mark.parametrize(
    "says", [lambda line: None, lambda line: "HTTP/1.1 400 Bad Request\r\n", lambda line: "SERVER PROTOCOL 2\n"]
)
def test_whoever_listens_there_instead_is_no_ras(stand_in, asked_of, says):
    """Another service on the port, or one that hangs up."""
    answers, why = asked_of(stand_in(says))

    assert answers == ()
    assert "did not answer" in why


def test_a_socket_that_sends_without_end_fills_no_memory(stand_in, asked_of):
    """Before the first line's end, and in place of the status."""
    endless = "x" * (4 * nccl_ras.MOST_BYTES)
    tracemalloc.start()

    first = asked_of(stand_in(lambda line: endless))
    status = asked_of(stand_in(lambda line: endless if line.endswith("STATUS") else speaks(line)))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first[0] == ()
    assert "does not speak the protocol" in first[1]
    assert all(len(answer.text) < 2 * nccl_ras.MOST_BYTES for answer in status[0])
    assert peak < 64 * nccl_ras.MOST_BYTES


@pytest.mark.parametrize("told", ["localhost:99999", "localhost:0", "x:" + "9" * 5000])
def test_a_port_that_is_none_is_not_asked(told, monkeypatch):
    """Any job can write anything into its environment."""
    monkeypatch.setattr(nccl_ras, "version_of", lambda pids: (2, 28, 9))
    monkeypatch.setattr(nccl_ras, "first_of", lambda pids, name: {"NCCL_RAS_ADDR": told}.get(name))

    answers, why = nccl_ras.ask([1])

    assert answers == ()
    assert "no address" in why
    assert len(why) < 300


def test_nobody_waits_for_an_answer_that_does_not_come(stand_in, asked_of, monkeypatch):
    """It has a deadline of its own."""
    monkeypatch.setattr(nccl_ras, "EACH_SECONDS", 0.2)
    hung = threading.Event()
    monkeypatch.setattr(nccl_ras.query, "__kwdefaults__", {"seconds": 0.2})

    answers, why = asked_of(stand_in(lambda line: (hung.wait(5.0), None)[1]))

    hung.set()
    assert answers == ()
    assert "no whole answer" in why or "timed out" in why


@pytest.mark.parametrize(
    ("told", "address"),
    [
        (None, ("localhost", 28028)),
        ("10.0.0.2:9999", ("10.0.0.2", 9999)),
        ("[::1]:28029", ("::1", 28029)),
        ("junk", ("localhost", 28028)),
    ],
)
def test_a_job_says_where_its_ras_listens(told, address):
    """NCCL_RAS_ADDR of the job's own environment."""
    assert nccl_ras.address_of(told) == address


def test_the_version_is_that_of_the_library_in_use(tmp_path, monkeypatch):
    """Of its wheel, or of its own name."""
    site = tmp_path / "site-packages"
    library = site / "nvidia/nccl/lib/libnccl.so.2"
    library.parent.mkdir(parents=True)
    library.touch()
    (site / "nvidia_nccl_cu12-2.27.5.dist-info").mkdir()
    other = tmp_path / "libnccl.so.2.26.2"
    other.touch()
    maps = {
        "/proc/1/maps": f"7f00-7f01 r-xp 0 fd:01 77 {library}\n",
        "/proc/2/maps": f"7f00-7f01 r-xp 0 fd:01 78 {other}\n",
    }
    monkeypatch.setattr(nccl_ras, "text_of", lambda path, size: maps.get(path, ""))

    assert nccl_ras.version_of([1]) == (2, 27, 5)
    assert nccl_ras.version_of([2]) == (2, 26, 2)
    assert nccl_ras.version_of([3]) is None
