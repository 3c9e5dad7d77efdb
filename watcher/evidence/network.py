"""Counters of the network cards and of InfiniBand: errors and retries tell of a bad cable or a congested link."""

from collections.abc import Iterator
from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.process_tree import text_of

INFINIBAND = Path("/sys/class/infiniband")
CARDS = Path("/sys/class/net")
_PORT = ("state", "phys_state", "rate", "link_layer")
_TABLES = ("/proc/net/dev", "/proc/net/snmp", "/proc/net/sockstat")


class Network:
    """One text with all of them."""

    name = "network"
    seconds = 5.0
    bytes = 4 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:  # noqa: ARG002  (the common shape of collectors)
        """Read the counters once; nothing is sent."""
        said = [f"== {path}\n{text_of(path)}" for path in _TABLES if text_of(path)]
        for card in _folders(CARDS):
            into.check()
            facts = {name: text_of(f"{card}/{name}").strip() for name in ("operstate", "speed", "mtu")}
            said.append(f"== {card}\n" + " ".join(f"{name}={value}" for name, value in facts.items() if value) + "\n")
        ports = [port for device in _folders(INFINIBAND) for port in _folders(device / "ports")]
        for port in ports:
            into.check()
            said.append(f"== {port}\n" + "".join(_counters(port)))
        if not said:
            return Result(Outcome.UNAVAILABLE, "neither /proc/net nor /sys/class/net is readable here")
        into.write("network.txt", "\n".join(said))
        return Result(Outcome.COLLECTED, "" if ports else "no InfiniBand here")


def _counters(port: Path) -> Iterator[str]:
    """State and counters of one port; those that are 0 are left out."""
    for name in _PORT:
        yield f"{name}: {text_of(str(port / name)).strip()}\n"
    for group in ("counters", "hw_counters"):
        for counter in _names(port / group):
            value = text_of(str(port / group / counter)).strip()
            if value not in ("", "0"):
                yield f"{counter}: {value}\n"


def _folders(parent: Path) -> list[Path]:
    return [parent / name for name in _names(parent)]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
