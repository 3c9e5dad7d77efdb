"""What every rank is doing in Python, by py-spy: only where the run's owner allowed it, and without stopping anyone."""

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.evidence.programs import Program

EACH_SECONDS = 8.0
MOST_PROCESSES = 64


class Stacks:
    """One text for each process."""

    name = "stacks"
    seconds = 30.0
    bytes = 16 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """`--nonblocking`: the other way stops the process, and hangs on one that waits in the kernel."""
        if not scene.run.stacks:
            return Result(Outcome.UNAVAILABLE, "not allowed for this run (--stacks)")
        said: list[str] = []
        for process in [one for one in scene.processes if one.state != "gone"][:MOST_PROCESSES]:
            if into.is_late:
                said.append("no time was left for the others")
                break
            rank = f"rank{process.rank}" if process.rank is not None else "process"
            name = f"pyspy-{rank}-{process.name}-{process.pid}.txt"
            program = Program(("py-spy", "dump", "--nonblocking", "--pid", str(process.pid)), name)
            result = program.collect(into, EACH_SECONDS)
            if result.outcome is Outcome.UNAVAILABLE:
                return result
            said += [f"{rank}: {result.why}"] if result.why else []
        outcome = Outcome.COLLECTED if into.files else Outcome.FAILED if said else Outcome.EMPTY
        return Result(outcome, "; ".join(said[:10]))
