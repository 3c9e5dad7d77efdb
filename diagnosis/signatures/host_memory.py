"""Lines about host memory, and about processes that were killed for want of it or by somebody.

The dead process prints nothing: what is left stands with the kernel, the scheduler, the container or the launcher.
"""

from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.exit_codes import ruling_of_exit
from diagnosis.signatures.process_names import may_train
from diagnosis.signatures.row import Ruling, Tier, row


def _ruling_of_kill(fields: Mapping[str, str]) -> Ruling:
    """A group's limit concerns that group alone; a machine without memory concerns everybody on it."""
    is_of_group = "cgroup" in fields.get("scope", "") or "MEMCG" in fields.get("constraint", "")
    is_of_others = is_of_group and not may_train(fields.get("name", ""))
    return Role.CONTEXT if is_of_others else Role.CONFIRM, Category.HOST_OOM


TABLE = (
    row(
        "S040a",
        "kernel_oom_invoked",
        Role.CONTEXT,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle="invoked oom-killer",
        pattern=r"(?P<name>[^\s:\]]{1,64}) invoked oom-killer",
        advice="",
        source="leptonai/gpud memory matcher",
        example="[ 4035.563834] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    ),
    row(
        "S040b",
        "kernel_oom_constraint",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle="oom-kill:constraint=",
        pattern=r"oom-kill:constraint=(?P<constraint>\w{1,40})[^\n]{0,600}?task=(?P<name>[^,\n]{1,64}),"
        r"pid=(?P<pid>\d{1,10})",
        advice="Raise the limit of the job or pod where the line says MEMCG; free memory of the node where it "
        "says NONE.",
        source="leptonai/gpud memory matcher (cadvisor oomparser)",
        example="[ 4035.564249] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
        "oom_memcg=/realruns,task_memcg=/realruns,task=python3,pid=29436,uid=0",
        ruling=_ruling_of_kill,
    ),
    row(
        "S040",
        "kernel_oom_kill",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=("Out of memory: Kill", "out of memory: Kill", "out of memory+swap: Kill"),
        pattern=r"(?:\bnode/(?P<node>[\w.-]{1,80})\s{1,20})?(?P<scope>Out of memory|Memory cgroup out of "
        r"memory)(?:\+swap)?: Kill(?:ed)? process "
        r"(?P<pid>\d{1,10}),? ?\(?(?P<name>[^),\n]{0,64})\)?(?:[^\n]{0,200}?anon-rss:(?P<rss_kb>\d{1,15})kB)?",
        advice="Raise the memory limit, or take fewer loader workers and less offload.",
        source="leptonai/gpud memory matcher, NVIDIA restart-agent registry",
        example="[ 4035.564275] Memory cgroup out of memory: Killed process 29436 (python3) total-vm:1933680kB, "
        "anon-rss:1178156kB, file-rss:102576kB, shmem-rss:0kB, UID:0 pgtables:2884kB oom_score_adj:0",
        ruling=_ruling_of_kill,
    ),
    row(
        "S040d",
        "user_space_oom_kill",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=(
            "sending SIGTERM to process",
            "sending SIGKILL to process",
            "Killed /",
            "OOM killer terminated this process",
        ),
        pattern=r"sending SIG(?:TERM|KILL) to process (?P<pid>\d{1,10})[^\n]{0,60}?"
        r"\"(?P<name>(?:python|pt_|torchrun|ray)[^\"\n]{0,60})\"|"
        r"\bKilled (?P<group>/\S{1,300}) due to memory (?:pressure|used)|"
        r"OOM killer terminated this process",
        advice="Find what filled the node's memory: a program that guards it ended the process before the kernel did.",
        source="rfjakob/earlyoom, systemd oomd-manager.c, HPE ALPS",
        example='Mar 14 09:01:02 ws1 earlyoom[812]: sending SIGTERM to process 4412 uid 1000 "python": oom_score 1200, '
        "VmRSS 110000 MiB",
    ),
    row(
        "S041a",
        "slurm_oom",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=("oom_kill event", "oom-kill event", "oom-killer event"),
        pattern=r"[Dd]etected (?P<count>\d{1,9}) oom[_-]kill(?:er)? event(?:\(s\)|s)? in (?:StepId=|step )"
        r"(?P<step>[\w.+-]{1,60})",
        advice="Raise --mem, or take fewer loader workers and less offload.",
        source="SchedMD/slurm task_cgroup_memory.c, hafs-community/HAFS#101",
        example="slurmstepd: error: Detected 1 oom-kill event(s) in StepId=88121.batch cgroup. Some of your processes "
        "may have been killed by the cgroup out-of-memory handler.",
    ),
    row(
        "S041b",
        "srun_task_oom",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=("Out Of Memory", "OUT_OF_ME"),
        pattern=r"srun: error: (?P<node>[\w.\[\],-]{1,120}): tasks? (?P<tasks>[\d,\-]{1,200}): Out Of Memory|"
        r"\bOUT_OF_ME(?:MORY|\+)",
        advice="Raise the memory limit of the step, or take fewer loader workers and less offload.",
        source="SchedMD/slurm srun/launch.c",
        example="srun: error: node07: task 3: Out Of Memory",
    ),
    row(
        "S041c",
        "batch_memory_limit",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=(
            "TERM_MEMLIMIT",
            "job killed: ",
            "exceeded memory limit",
            "exceeded MEM usage",
            "exceeded job memory",
            "Exceeded job memory",
            "Exceeded step memory",
            "Job has gone over memory limit",
            "exceeded request_memory",
            "ran out-of-memory",
        ),
        pattern=r"\bTERM_MEMLIMIT\b|job killed: (?:p?v?mem|rss) (?P<used>\w{1,30}) exceeded limit (?P<limit>\w{1,30})|"
        r"(?:Job|Step) \S{1,30} exceeded (?:job )?memory limit|Exceeded (?:job|step) memory limit|"
        r"exceeded MEM usage hard limit|"
        r"Job has gone over memory limit of|memory usage exceeded request_memory|ran out-of-memory and exited with",
        advice="Ask for more memory, or take fewer loader workers and less offload.",
        source="cBio/cbio-cluster#251, PBS Professional, IBM Spectrum LSF, Slurm jobacct_gather, HTCondor, Vertex AI",
        example="=>> PBS: job killed: mem 132120576kb exceeded limit 131072000kb",
    ),
    row(
        "S042a",
        "launcher_exit",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="exits with return code",
        pattern=r"exits with return code ?=? ?(?P<exit_code>-?\d{1,5})",
        advice="Read the traceback of every rank for a code of 1, the kernel log for -9: the rank in the "
        "launcher's command may not be the one.",
        source="deepspeedai/DeepSpeed launch.py, #4239, #3160, #3456",
        example="[2023-06-07 22:30:00,123] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', "
        "'train.py', '--local_rank=7'] exits with return code = -9",
        ruling=ruling_of_exit,
    ),
    row(
        "S042b",
        "shell_killed",
        Role.ROOT,
        Category.HOST_OOM,
        Tier.SIGNAL,
        needle="Killed",
        pattern=r": line \d{1,7}:\s{1,4}(?P<pid>\d{1,10}) Killed\b|^\s{0,8}(?:\[\d{1,4}\]\+? {1,4})?Killed\s{0,40}$|"
        r"^\s{0,8}\d{1,10} Killed {2,}",
        advice="Read the kernel log (dmesg): it tells whether memory ran out or somebody sent kill -9.",
        source="OpenBMB/MiniCPM-V#770, hiyouga/LlamaFactory#9116",
        example="run.sh: line 12: 48213 Killed                  python train.py --config big.yaml",
    ),
    row(
        "S042c",
        "wrapper_killed",
        Role.ROOT,
        Category.HOST_OOM,
        Tier.SIGNAL,
        needle="died with <Signals.SIGKILL",
        pattern=r"died with <Signals\.SIGKILL",
        advice="Read the kernel log (dmesg): it tells whether memory ran out or somebody sent kill -9.",
        source="huggingface/accelerate commands/launch.py, CPython subprocess",
        example="subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' died with "
        "<Signals.SIGKILL: 9>.",
    ),
    row(
        "S043a",
        "ray_task_oom",
        Role.ROOT,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle="was killed due to the node running low on memory",
        pattern=r"(?:Task|Actor|Worker)s? was killed due to the node running low on memory",
        advice="Look at the `Top 10 memory users` in the line: they filled the memory, not the task that was killed.",
        source="verl-project/verl#1335, #4995, hiyouga/EasyR1#50",
        example="ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
    ),
    row(
        "S043b",
        "ray_memory_threshold",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle="exceeds the memory usage threshold",
        pattern=r"Memory on the node \(IP: (?P<node>[\w.:-]{1,60}), ID: [0-9a-f]{1,80}\)"
        r"(?:[^\n]{0,160}?name=(?P<task>[^,\n]{1,80}), pid=(?P<pid>\d{1,10}))?[^\n]{0,80}?"
        r"was running was (?P<used>[\d.]{1,12}GB) / (?P<total>[\d.]{1,12}GB)",
        advice="Offload less, and save fewer states at once.",
        source="verl-project/verl#1335",
        example="Memory on the node (IP: 10.0.3.24, ID: 9526eac4) where the task (task ID: 8c35c3, name=main_task, "
        "pid=2121529, memory used=0.63GB) was running was 482.39GB / 503.52GB (0.958038), which exceeds the memory "
        "usage threshold of 0.95.",
    ),
    row(
        "S043c",
        "ray_workers_oom",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle="killed due to memory pressure",
        pattern=r"(?P<count>\d{1,7}) Workers \(tasks / actors\) killed due to memory pressure[^\n]{0,200}?"
        r"IP: (?P<node>[\w.:-]{1,60})\)",
        advice="",
        source="verl-project/verl#1335",
        example="(raylet) [2025-04-30 02:41:17,882 E 2119911 2119911] (raylet) node_manager.cc:3287: 1 Workers (tasks "
        "/ "
        "actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 9526eac4, "
        "IP: 10.0.3.24) over the last time period.",
    ),
    row(
        "S043d",
        "ray_memory_user",
        Role.CONTEXT,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle="ray::",
        pattern=r"^\W{0,8}(?P<pid>\d{1,10})\s{1,8}(?P<gb>[\d.]{1,12})\s{1,8}(?P<command>ray::\S{1,120})",
        advice="",
        source="verl-project/verl#1335",
        example="2122099\t260.26\tray::WorkerDict.critic_save_checkpoint",
    ),
    row(
        "S044",
        "ray_worker_died",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle=(
            "A worker died or was killed while executing a task",
            "ActorDiedError",
            "RayActorError",
            "WorkerCrashedError",
            "WorkerGroupError",
        ),
        pattern=r"A worker died or was killed while executing a task(?:[^\n]{0,600}?Worker IP address: "
        r"(?P<node>[\w.:-]{1,80}))?(?:[^\n]{0,80}?Worker PID: (?P<pid>\d{1,10}))?|ActorDiedError|RayActorError|"
        r"WorkerCrashedError|WorkerGroupError: Training failed due to worker errors",
        advice="Open the .err log of that worker: the reasons that Ray lists are always the same.",
        source="verl-project/verl#217, #2987, #1299",
        example="ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
        may_start=True,
    ),
    row(
        "S044b",
        "ray_task_failed",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="RayTaskError",
        pattern=r"RayTaskError(?:\((?P<type>\w{1,60})\))?(?:: ray::\S{1,160}(?: \(|\()(?:[^\n]{0,40}?)pid="
        r"(?P<pid>\d{1,10})"
        r"(?:, ip=(?P<node>[\w.:-]{1,80}))?)?",
        advice="Read the exception at the end of its traceback: it was raised in that worker.",
        source="verl-project/verl#2987, THUDM/slime#1497",
        example="ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_ref_update_actor() "
        "(pid=118848, ip=10.130.71.7, actor_id=b2ba64f62469495ea505301701000000, repr=<WorkerDict object at 0x7b8>)",
        may_start=True,
    ),
    row(
        "S044c",
        "ray_actor_place",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle=("^\tip: ", "^  ip: ", "^        ip: ", "^\tpid: ", "^  pid: ", "^        pid: "),
        pattern=r"^(?:\t|  {1,8})(?:ip: (?P<node>[\w.:-]{1,80})|pid: (?P<pid>\d{1,10}))$",
        advice="",
        source="verl-project/verl#217, Simple-Efficient/RL-Factory#123",
        example="\tip: 10.7.34.138",
    ),
    row(
        "S045",
        "kubernetes_oom",
        Role.CONFIRM,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=("OOMKill", "exited with code 137"),
        pattern=r"OOMKill(?:ed|ing)(?!\"?: ?false)|Pod: (?P<pod>\S{1,200}) exited with code 137",
        advice="Raise the memory limit of the pod or container: files in its /dev/shm may count against it.",
        source="kubeflow/trainer#2008, ZettaAI#524",
        example="    Last State:     Terminated  Reason: OOMKilled  Exit Code: 137",
    ),
    row(
        "S046",
        "host_allocation_failed",
        Role.ROOT,
        Category.HOST_OOM,
        Tier.HARDWARE,
        needle=("MemoryError", "std::bad_alloc", "can't allocate memory", "[Errno 12]", "unable to mmap "),
        pattern=r"^\s{0,8}(?:[\w.]{0,60}\.)?_?(?:Array)?MemoryError\b|std::bad_alloc|DefaultCPUAllocator: (?:can't "
        r"allocate memory|not "
        r"enough memory)(?:[^\n]{0,80}?allocate (?P<bytes>\d{1,20}) bytes)?|\[Errno 12\]|"
        r"unable to mmap \d{1,20} bytes from [^\n]{1,300}Cannot allocate memory",
        advice="Check ulimit and overcommit; take fewer workers, spawn instead of fork, or memory maps.",
        source="pytorch/pytorch#64990",
        example="RuntimeError: [enforce fail at alloc_cpu.cpp:73] . DefaultCPUAllocator: can't allocate memory: you "
        "tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)",
    ),
)
