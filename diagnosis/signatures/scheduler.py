"""Lines of schedulers, containers and of people who stop jobs."""

from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row


def _ruling_of_cancel(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """With a reason it is the cause; without one it follows from whatever ended the step."""
    reason = (fields.get("reason") or "").upper()
    if "NODE FAIL" in reason:
        return Role.ROOT, Category.NODE_LOST
    if any(word in reason for word in ("TIME LIMIT", "PREEMPT", "REQUEUE")):
        return Role.ROOT, Category.PREEMPTED
    return Role.CASCADE, Category.PREEMPTED


TABLE = (
    row(
        "S094",
        "slurm_cancelled",
        Role.CASCADE,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle="CANCELLED AT ",
        pattern=r"(?P<what>JOB|STEP) (?P<job>[\w.+-]{1,40}) ON (?P<node>[\w.\[\],-]{1,120}) CANCELLED AT "
        r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?: (?:DUE [Tt][Oo] )(?P<reason>[^*\n]{1,80}?))?(?: \*\*\*|,|$)",
        advice="Ask for more time, or save on a warning (--signal=USR1@N), where it was the time limit; requeue"
        " where it was preempted.",
        source="SchedMD/slurm slurmstepd/req.c, Lightning#20542",
        example="slurmstepd: error: *** STEP 55595933.0 ON node-3017 CANCELLED AT 2025-01-10T15:27:25 DUE TO TIME "
        "LIMIT "
        "***",
        ruling=_ruling_of_cancel,
    ),
    row(
        "S095",
        "slurm_node_failure",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.HARDWARE,
        needle=("Node failure on ", "Job killed due node failure", "NODE_FAIL", "not responding, setting DOWN"),
        pattern=r"Node failure on (?P<node>[\w.\[\],-]{1,120})|Job killed due node failure|\bNODE_FAIL\b|"
        r"Nodes (?P<node_before>[\w.\[\],-]{1,120}) not responding, setting DOWN",
        advice="Exclude the node and requeue.",
        source="SchedMD/slurm req.c, step_launch.c",
        example="srun: error: Node failure on node17",
    ),
    row(
        "S095b",
        "slurm_launch_failed",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.SIGNAL,
        needle="ask launch for ",
        pattern=r"[Tt]ask launch for (?:StepId=)?[\w.+-]{1,40} ?failed on node (?P<node>[\w.-]{1,120})",
        advice="Exclude the node and requeue: Slurm could not start the job's tasks there.",
        source="SchedMD/slurm srun step_launch.c",
        example="srun: error: Task launch for StepId=77.0 failed on node gpu-14: Communication connection failure",
    ),
    row(
        "S096a",
        "srun_task_exited",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="srun: error: ",
        pattern=r"srun: error: (?P<node>[\w.\[\],-]{1,120}): tasks? (?P<tasks>[\d,\-\[\]]{1,300}): (?:Exited with exit "
        r"code "
        r"(?P<exit_code>\d{1,5})|(?P<signal>Killed|Segmentation fault|Terminated|Bus error|Aborted|Illegal instruction|"
        r"Hangup|Interrupt))",
        advice="Read the output of the first task to leave: later ones only follow it.",
        source="SchedMD/slurm launch.c, HAFS#101",
        example="srun: error: node17: task 17: Exited with exit code 1",
    ),
    row(
        "S096b",
        "srun_abort",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle=("Job step aborted", "Terminating StepId", "Force Terminated", "Terminating job step"),
        pattern=r"Job step aborted|Terminating StepId=|Force Terminated (?:StepId|job)|Terminating job step",
        advice="Read the lines above: they say why the step is taken down.",
        source="SchedMD/slurm",
        example="srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
    ),
    row(
        "S097a",
        "cancelled_by",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=("CANCELLED by ", "kill switch", "kill-switch"),
        pattern=r"CANCELLED by (?P<user>\w{1,40})|kill[- ]switch (?:detected|found|activated)",
        advice="Ask who stopped it: the training itself did not fail.",
        source="Megatron, pytorch/pytorch#76287",
        example="1528763   train   gpu_p5   CANCELLED by 1001",
    ),
    row(
        "S097b",
        "batch_time_limit",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=(
            "TERM_RUNLIMIT",
            "job killed: walltime",
            "exceeded its walltime limit",
            "exceeded wallclock limit",
            "exceeded hard wallclock",
            "exceeded soft wallclock",
            "DeadlineExceeded",
            "longer than the specified deadline",
        ),
        pattern=r"\bTERM_RUNLIMIT\b|job killed: walltime (?P<used>\d{1,12}) exceeded limit (?P<limit>\d{1,12})|"
        r"exceeded (?:its )?wall(?:time|clock) limit|exceeded (?:hard|soft) wallclock time|"
        r"active on the node longer than the specified deadline|\bDeadlineExceeded\b {2,}",
        advice="Save before the time limit, and chain jobs.",
        source="cBio/cbio-cluster#256, CoBrALab/MAGeTbrain#20, PBS Professional, Spectrum LSF, Grid Engine, Kubernetes",
        example="=>> PBS: job killed: walltime 43231 exceeded limit 43200",
    ),
    row(
        "S097c",
        "batch_ended",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=("TERM_OWNER", "TERM_ADMIN", "TERM_FORCE_", "TERM_PREEMPT", "Job deleted at request of"),
        pattern=r"\bTERM_(?:OWNER|ADMIN|FORCE_OWNER|FORCE_ADMIN|PREEMPT)\b|"
        r"Job deleted at request of (?P<user>\S{1,80})",
        advice="Ask who ended it, a person or the scheduler: the training itself did not fail.",
        source="cBio/cbio-cluster#403, IBM Spectrum LSF",
        example="TERM_OWNER: job killed by owner.",
    ),
    row(
        "S098",
        "kubernetes_evicted",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=(
            "Evicted",
            "The node was low on resource",
            "ephemeral local storage usage exceeds",
            "The node had condition",
            "Preempted",
            "Pod is evicted",
            "TaintManagerEviction",
            "Job was evicted",
            "EventType",
        ),
        pattern=r"\bEvicted\b|The node was low on resource: (?P<resource>[\w-]{1,40})|ephemeral local storage usage "
        r"exceeds|"
        r"The node had condition: \[(?P<condition>\w{1,40})\]|\bPreempted\b(?: by)?|Pod is evicted|"
        r"TaintManagerEviction|Job was evicted\.|"
        r"EventType\W{1,6}(?:Preempt|Terminate)\b[^\n]{0,200}?\b(?:NotBefore|EventStatus|Resources)\b",
        advice="Write checkpoints and caches to a volume, request ephemeral storage, or raise the priority class.",
        source="kubernetes#91600, operate-first#1352, volcano-sh/volcano, HTCondor",
        example="Warning  Evicted  kubelet  The node was low on resource: ephemeral-storage.",
    ),
    row(
        "S045b",
        "kubernetes_failed",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="^Status: ",
        pattern=r"^Status:\s{1,24}Failed\s{0,4}$",
        source="kubectl describe pod",
        example="Status:           Failed",
    ),
    row(
        "S045c",
        "kubernetes_exit",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="Exit Code: ",
        pattern=r"^\s{2,16}Exit Code:\s{1,12}(?P<exit_code>[1-9]\d{0,2})\s{0,4}$",
        advice="Read the pod's own log (`kubectl logs --previous`) and its events: the code alone tells no cause.",
        source="kubectl describe pod",
        example="      Exit Code:    137",
    ),
    row(
        "S098b",
        "image_not_pulled",
        Role.ROOT,
        Category.INIT_TIMEOUT,
        Tier.LAUNCHER,
        needle=("ImagePull", "Failed to pull image"),
        pattern=r"\b(?:Err)?ImagePull(?:BackOff)?\b|Failed to pull image",
        advice="Correct the image's name or the secret of its registry: that pod never started.",
        source="kubelet events",
        example='Warning  Failed  pod/train-worker-2  Failed to pull image "reg/train:9": rpc error: code = NotFound',
    ),
    row(
        "S099",
        "node_shutting_down",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=(
            "Node is shutting down",
            "imminent node shutdown",
            "NodeNotReady",
            "node.kubernetes.io/unreachable",
            "spot interruption",
            "Spot interruption",
            "preemptible",
            "aintenance event",
        ),
        pattern=r"Node is shutting down|[Mm]aintenance event[^\n]{0,60}(?:imminent|TERMINATE_ON_HOST_MAINTENANCE)|"
        r"imminent node shutdown|NodeNotReady(?:\s{1,20}node/(?P<node>[\w.-]{1,80}))?|"
        r"node\.kubernetes\.io/unreachable|[Ss]pot (?:instance )"
        r"?interruption|"
        r"preemptible (?:VM|instance)[^\n]{0,40}(?:notice|preempted|terminat)",
        advice="Resume on a new node; save on notice.",
        source="kubeflow/pytorch-operator#359, ray PR#64360",
        example="Warning  NodeNotReady  node-controller  Node is not ready",
    ),
    row(
        "S100",
        "sigterm_seen",
        Role.CASCADE,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=(
            "SIGTERM",
            "this job is preempted",
            "eived signal 15",
            "SIGUSR1",
            "SIGUSR2",
            " Terminated",
            "User defined signal",
        ),
        pattern=r"[Rr]eceived (?:signal )?(?:\(?15\)? ?)?SIGTERM|Bypassing SIGTERM|[Cc]aught (?:signal )?SIG(?:TERM|"
        r"USR1|HUP)|"
        r"this job is preempted|after receiving SIGTERM|[Rr]eceived signal 15\b|[Rr]eceived "
        r"SIGUSR[12](?!\W{1,4}(?:dump|print|writ)\w{0,6})|SIGTERM "
        r"(?:received|caught)|auto-requeue signal|"
        r": line \d{1,7}:\s{1,4}\d{1,10} (?:Terminated|User defined signal [12]|Hangup)\b",
        advice="Find out who sent it: sacct or scontrol, node events, a time limit, a person, or another component.",
        source="Lightning#20542, submitit PR#1701",
        example="[rank: 0] Received SIGTERM: 15",
        may_start=True,
    ),
    row(
        "S100b",
        "job_preempted",
        Role.ROOT,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=(
            "job is preempted",
            "luster is preempted",
            "PREEMPTED",
            "was preempted",
            "been preempted",
            "being preempted",
            "TIME LIMIT",
            "TIMEOUT",
        ),
        pattern=r"(?:job|Job|JOB|[Cc]luster) (?:\S{1,40} )?(?:is|was|has been) preempted|"
        r"\bPREEMPTED\b|DUE TO TIME LIMIT|"
        r"JobState=TIMEOUT\b|\|TIMEOUT(?:\||$)|"
        r"^\s{0,4}\d{1,12}(?:[._+]\S{1,20})?\s[^\n]{0,120}?\bTIMEOUT {1,20}\d{1,3}:\d{1,3}\b|"
        r"\b(?:task|[Nn]ode|[Ii]nstance|VM|TPU|[Pp]od|[Mm]achine|[Ww]orker)\b"
        r"[^\n]{0,60}? (?:was|is being|has been) preempted\b",
        advice="Requeue, and resume from the newest checkpoint.",
        source="submitit PR#1701, sacct states",
        example="submitit WARNING - Caught signal SIGUSR1 on node7: this job is preempted.",
    ),
)
