"""Lines of runtimes that watch over their own processes: the coordination service of JAX, and Ray's nodes."""

from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_TASK = r"/job:\w{1,40}/replica:\d{1,5}/task:(?P<rank>\d{1,7})"
_AT_START = ("connect", "init", "register", "pjrt", "wait_for_all")


def _ruling_of_barrier(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """Before the first step somebody never came; later somebody is elsewhere."""
    barrier = fields.get("barrier", "").lower()
    is_start = any(word in barrier for word in _AT_START)
    return Role.ROOT, Category.INIT_TIMEOUT if is_start else Category.COLLECTIVE_HANG


TABLE = (
    row(
        "S121a",
        "coordination_barrier",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle="Barrier timed out",
        pattern=r"Barrier timed out\. (?:Barrier_id|Id): (?P<barrier>[^\s.]{1,160})",
        advice="Read the logs of the tasks that are listed below it; at the start check that all were launched "
        "and reach the coordinator.",
        source="ayaka14732/llama-2-jax#20, marin-community/levanter#432",
        example="jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: "
        "PjRT_Client_Connect. Timed out task names:",
        ruling=_ruling_of_barrier,
    ),
    row(
        "S121b",
        "coordination_task_lost",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.NETWORK,
        needle=("has been set to ERROR in coordination service", "heartbeat timeout"),
        pattern=_TASK + r" (?:has been set to ERROR in coordination service|heartbeat timeout)",
        advice="Read the log of that task, and ask the scheduler what became of its machine (preemption, eviction).",
        source="EleutherAI/architecture-objective#26, jax-ml/jax#23599",
        example="2022-11-15 16:03:15.140058: E external/org_tensorflow/tensorflow/core/distributed_runtime/"
        "coordination/coordination_service.cc:954] /job:jax_worker/replica:0/task:37 has been set to ERROR in "
        "coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout.",
        names_rank=True,
    ),
    row(
        "S121c",
        "coordination_unhealthy",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.NETWORK,
        needle="tasks are unhealthy (stopped sending heartbeats)",
        pattern=r"The following tasks are unhealthy \(stopped sending heartbeats\)",
        advice="Read the logs of the tasks that are listed below it, and ask the scheduler what became of their"
        " machines.",
        source="JAX documentation, fault tolerance",
        example="F0926 17:26:32.075587  157988 client.h:77] Terminating process because the JAX distributed service "
        "detected fatal errors. absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending "
        "heartbeats):",
    ),
    row(
        "S121d",
        "coordination_task",
        Role.CONTEXT,
        Category.NODE_LOST,
        Tier.NETWORK,
        needle="^/job:",
        pattern=r"^\s{0,8}" + _TASK + r"\s{0,4}$",
        advice="",
        source="JAX documentation, fault tolerance",
        example="/job:jax_worker/replica:0/task:3",
    ),
    row(
        "S121e",
        "coordination_unregistered",
        Role.ROOT,
        Category.INIT_TIMEOUT,
        Tier.EXCEPTION,
        needle="cluster registration failed",
        pattern=r"cluster registration failed",
        advice="Find the tasks that never came: machines without a log, image pulls, a wrong coordinator address.",
        source="AI-Hypercomputer/gpu-recipes#2",
        example="Stopping coordination service as cluster registration failed. This may be due to 1) some tasks "
        "crashed earlier before connecting",
    ),
    row(
        "S121f",
        "coordination_ended",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.STORE,
        needle=("Terminating process because the", "Polled an error from coordination service"),
        pattern=r"Terminating process because the (?:JAX )?distributed service detected fatal errors|"
        r"Polled an error from coordination service",
        advice="Read the logs of the other tasks: this one ends because another died.",
        source="JAX documentation, fault tolerance",
        example="F0926 17:26:32.075587  157988 client.h:77] Terminating process because the JAX distributed service "
        "detected fatal errors. This most likely indicates that another task died; see the other task logs for more "
        "details.",
        may_start=True,
    ),
    row(
        "S121g",
        "coordination_restarted",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.NETWORK,
        needle="connect with a different incarnation",
        pattern=_TASK + r" unexpectedly tried to connect with a different incarnation",
        advice="Read the earlier log of that task: its process ended and was started again while the others trained.",
        source="jax-ml/jax#20055",
        example="/job:jax_worker/replica:0/task:11 unexpectedly tried to connect with a different incarnation. It has "
        "likely restarted.",
        names_rank=True,
    ),
    row(
        "S121h",
        "tpu_lame_workers",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle="lame workers found",
        pattern=r"ShutdownHook: lame workers found: HeartbeatManager\((?:/job:\w{1,40}/replica:\d{1,5}/task:"
        r"(?P<task>\d{1,7}))?",
        advice="Start again from the newest checkpoint on a TPU that is made anew: its worker was told to leave "
        "(preemption or maintenance).",
        source="tensorflow/tpu#305, megagonlabs/t5-japanese#1, TensorFlow session_support.py",
        example="INFO:tensorflow:ShutdownHook: lame workers found: "
        "HeartbeatManager(/job:worker/replica:0/task:0/device:CPU:0)",
    ),
    row(
        "S122a",
        "ray_node_dead",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.HARDWARE,
        needle=("has been marked dead because the", "mistakenly been marked as dead"),
        pattern=r"The node with (?:client|node) (?:ID|id):? ?\w{1,80}(?: and (?:address|ip): (?P<node>[\w.:-]{1,80}?))?"
        r"(?: and node name: \S{1,120})? has been marked dead because|node manager has mistakenly been marked as dead",
        advice="Find out whether the node is alive (console, scheduler, preemption), or so loaded that its "
        "raylet did not answer.",
        source="ray-project/ray#18449, ray-project/kuberay#3827",
        example="The node with node id: ada3a3771fac751bd7c6b674e3b5e2df045b and address: 156.176.0.154 and node name: "
        "156.176.0.154 has been marked dead because the detector has missed too many heartbeats from it.",
    ),
    row(
        "S122b",
        "ray_owner_node_lost",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.SIGNAL,
        needle=("Owner's node has crashed", "because its node has died"),
        pattern=r"(?:Owner Ip address: (?P<node>[\w.:-]{1,80}) [^\n]{0,120}?)?(?:Owner's node has crashed|"
        r"because its node has died)",
        advice="Find out what became of the node: its console, the scheduler's view, when its logs ended.",
        source="hiyouga/EasyR1#324, ray gcs_actor_manager.cc",
        example="The actor is dead because its owner has died. Owner Id: 02000000ffff Owner Ip address: 10.0.3.24 "
        "Owner worker exit type: SYSTEM_ERROR Worker exit detail: Owner's node has crashed.",
    ),
    row(
        "S122c",
        "ray_worker_not_started",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="have not registered within the timeout",
        pattern=r"worker process ?\(?(?P<pid>\d{1,10})?\)? have not registered within the timeout",
        advice="Read the .err log of that worker: a wrong environment, or too little memory.",
        source="RLinf/RLinf#227",
        example="(raylet) [2025-10-31 17:08:05,490 E 24507 24507] (raylet) worker_pool.cc:586: Some workers of the "
        "worker process(26154) have not registered within the timeout. The process is dead, probably it crashed "
        "during start.",
    ),
)
