"""Lines of the c10d store, of rendezvous, and of torchrun's elastic agent.

Nearly all of them follow from something else; they name processes, codes and times that other evidence needs.
"""

from diagnosis.observations import Category, Role
from diagnosis.signatures.exit_codes import ruling_of_exit
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S016",
        "store_connection_lost",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.STORE,
        needle=("recvValue failed on", "sendBytes failed on", '"should dump" flag', "exception dump flag"),
        pattern=r"recvValue failed on|sendBytes failed on|Failed to check the \"should dump\" flag|"
        r"Failed to get exception dump flag",
        advice="Read the last lines of rank 0, which hosts the store: it is gone.",
        source="tdrussell/diffusion-pipe#333, pytorch/pytorch#128680",
        example="[W socket.cpp:432] [c10d] recvValue failed on SocketImpl(fd=71, addr=[node1]:52, "
        "remote=[node0]:29500):"
        " failed to recv, got 0 bytes",
    ),
    row(
        "S017",
        "store_clients_missing",
        Role.ROOT,
        Category.INIT_TIMEOUT,
        Tier.EXCEPTION,
        needle=("waiting for clients", "waiting for workers"),
        pattern=r"[Tt]imed out after (?P<seconds>\d{1,9}) seconds waiting for (?:clients|workers)\. "
        r"(?P<joined>\d{1,7})/(?P<world>\d{1,7}) (?:clients|workers) joined",
        advice="Find the ranks that never started: nodes without a log, image pulls, MASTER_ADDR, firewall, a "
        "slower copy of the data.",
        source="OpenRLHF/OpenRLHF#1040, pytorch PR#111805",
        example="torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 7/8 clients "
        "joined.",
    ),
    row(
        "S017b",
        "store_barrier_missing",
        Role.ROOT,
        Category.INIT_TIMEOUT,
        Tier.EXCEPTION,
        needle="in store based barrier on rank",
        pattern=r"imed out initializing process group in store based barrier on rank: ?\d{1,7}[^\n]{0,120}?"
        r"world_size=(?P<world>\d{1,7}), worker_count=(?P<joined>\d{1,7})",
        advice="Find the ranks that never came: nodes without a log; look for an earlier job on the same port "
        "where there are too many.",
        source="torch distributed_c10d.py before 2.1",
        example="RuntimeError: Timed out initializing process group in store based barrier on rank: 2, for key: "
        "store_based_barrier_key:1 (world_size=8, worker_count=7, timeout=0:30:00)",
    ),
    row(
        "S018",
        "store_unreachable",
        Role.CASCADE,
        Category.INIT_TIMEOUT,
        Tier.STORE,
        needle=("The client socket has timed out", "The client socket has failed to connect"),
        pattern=r"The client socket has (?:timed out after (?P<seconds>\d{1,9})(?:ms|s) while trying|failed) to "
        r"connect "
        r"to (?:[(\[](?P<host>[^\s,\])]{1,120})(?:, |\]:)(?P<port>\d{1,5})|(?P<plain_host>[\w.-]{1,120}):"
        r"(?P<plain_port>\d{1,5}))",
        advice="Look for an earlier error of rank 0; else check its address, its port, and whether it is up.",
        source="RangiLyu/nanodet#415, kubeflow/pytorch-operator#125",
        example="[E socket.cpp:860] [c10d] The client socket has timed out after 60s while trying to connect to "
        "(10.0.0.1, 29500).",
        may_start=True,
    ),
    row(
        "S019",
        "store_waits_for_rank0",
        Role.CASCADE,
        Category.DATALOADER_STALL,
        Tier.STORE,
        needle=("retrieving ncclUniqueId", "Timeout waiting for key"),
        pattern=r"(?:\[(?P<rank>\d{1,7})\] )?is setting up NCCL communicator and retrieving ncclUniqueId|"
        r"Timeout waiting for key: ?(?P<key>\S{1,80}) after (?P<ms>\d{1,12}) ms",
        advice="Preprocess offline or raise the timeout: rank 0 is busy before its first collective.",
        source="hiyouga/LlamaFactory#1196, NVIDIA/nccl#865",
        example="[3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by "
        "key '0', but store->get('0') got error: Socket Timeout",
        may_start=True,
        names_rank=True,
    ),
    row(
        "S020",
        "elastic_worker_failed",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="failed (exitcode: ",
        pattern=r"failed \(exitcode: (?P<exit_code>-?\d{1,5})\) local_rank: (?P<local_rank>\d{1,5}) "
        r"\(pid: (?P<pid>\d{1,10})\)",
        advice="Read what that process printed last, and look for its pid in the kernel log.",
        source="hpcaitech/ColossalAI#3172, bytedance/Protenix#321, NVIDIA/Megatron-LM#1880",
        example="E0120 16:00:40.000000 139921 torch/distributed/elastic/multiprocessing/api.py:826] failed (exitcode: "
        "-9) local_rank: 0 (pid: 1322) of binary: /opt/conda/bin/python",
        ruling=ruling_of_exit,
    ),
    row(
        "S021a",
        "elastic_closing",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="closing signal SIG",
        pattern=r"Sending process (?P<pid>\d{1,10}) closing signal (?P<signal>SIG\w{1,8})",
        advice="Look for the pid that is not among those that are closed: it failed first.",
        source="pytorch/pytorch#88251",
        example="W1129 16:04:46.465000 15853 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process "
        "15870 closing signal SIGTERM",
    ),
    row(
        "S021b",
        "elastic_forced_exit",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="forcefully exiting via 9",
        pattern=r"Unable to shutdown process (?P<pid>\d{1,10}) via \S{1,10}, forcefully exiting via 9",
        advice="Look for what failed before: the agent killed this process itself.",
        source="pytorch/pytorch#88251",
        example="Unable to shutdown process 15870 via 15, forcefully exiting via 9",
    ),
    row(
        "S022a",
        "elastic_block",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle=("Root Cause (first observed failure)", "Failures:", "Other Failures:"),
        pattern=r"^\W{0,4}(?:(?P<root>Root Cause \(first observed failure\):)|(?:Other )?Failures:)\s{0,4}$",
        advice="",
        source="Pein2017/CoordExp, Open-Sora-Plan#386",
        example="Root Cause (first observed failure):",
    ),
    row(
        "S022b",
        "elastic_field",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle=("^  time      : ", "host      : ", "rank      : ", "exitcode  : ", "error_file: ", "traceback : "),
        pattern=r"^\s{0,6}(?:time {6}: (?P<time>\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)|host {6}: (?P<host>[^\s]{1,200})|"
        r"rank {6}: (?P<rank>\d{1,7}) \(local_rank: (?P<local_rank>\d{1,5})\)|"
        r"exitcode {2}: (?P<exit_code>-?\d{1,5}) \(pid: (?P<pid>\d{1,10})\)|error_file: (?P<error_file>[^\s]{1,300})|"
        r"traceback : (?:Signal (?P<signal>\d{1,3}) \((?P<signal_name>\w{1,12})\) received by PID (?P<killed>\d{1,10})|"
        r"(?P<text>[^\n]{0,200})))",
        source="torch elastic multiprocessing/errors",
        example="  traceback : Signal 9 (SIGKILL) received by PID 17260",
    ),
    row(
        "S022c",
        "elastic_child_failed",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle="ChildFailedError",
        pattern=r"(?:errors\.)?ChildFailedError",
        advice="Read the log of the worker that failed: the launcher only reports it.",
        source="torch elastic",
        example="torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    ),
    row(
        "S023",
        "agent_got_signal",
        Role.CASCADE,
        Category.PREEMPTED,
        Tier.SIGNAL,
        needle=("death signal, shutting down", "SignalException: Process"),
        pattern=r"Received (?:Signals\.)?(?P<signal>SIG\w{1,8}|\d{1,3}) death signal, shutting down|"
        r"Process (?P<pid>\d{1,10}) got signal: (?P<number>\d{1,3})",
        advice="Find out who sent it: sacct or scontrol, node events, a time limit, a person, or a parent whose"
        " other part crashed.",
        source="PrimeIntellect-ai/prime-rl#1360, OpenMOSS/MOSS#237",
        example="W1130 12:13:49.388000 124326 torch/distributed/elastic/agent/server/api.py:723] Received 15 death "
        "signal, shutting down workers",
        may_start=True,
    ),
    row(
        "S024b",
        "rendezvous_timeout",
        Role.ROOT,
        Category.INIT_TIMEOUT,
        Tier.EXCEPTION,
        needle="RendezvousTimeoutError",
        pattern=r"(?:^\s{0,4}|rendezvous\.api\.|\"message\": \"|^[A-Z]{3,8}:[\w.]{1,80}:)RendezvousTimeoutError",
        advice="Find the nodes that never came to the rendezvous: no log, another endpoint or run id, a firewall.",
        source="facebookresearch/av_hubert#19, ymcui/Chinese-LLaMA-Alpaca-2#274",
        example="torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
    ),
    row(
        "S024",
        "rendezvous_lost",
        Role.CASCADE,
        Category.NODE_LOST,
        Tier.STORE,
        needle=(
            "keep-alive heartbeat to the rendezvous",
            "connection to the C10d store has failed",
            "Done waiting for other agents",
        ),
        pattern=r"(?:The node '(?P<node>[^']{1,200})' has failed to send a )?keep-alive heartbeat to the rendezvous|"
        r"connection to the C10d store has failed|Done waiting for other agents",
        advice="Look which node stopped logging first: the one with the rendezvous store went away.",
        source="torch dynamic_rendezvous.py, pytorch/pytorch#150916",
        example="The node 'node3_4711_0' has failed to send a keep-alive heartbeat to the rendezvous 'job7' due to an "
        "error of type RendezvousConnectionError.",
        may_start=True,
    ),
    row(
        "S027",
        "spawn_child_failed",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.LAUNCHER,
        needle=(
            "ProcessRaisedException",
            "ProcessExitedException",
            "terminated with the following error",
            "terminated with signal SIG",
        ),
        pattern=r"-- Process (?P<local_rank>\d{1,5}) terminated with the following error|"
        r"process (?P<child>\d{1,5}) terminated with (?:signal (?P<signal>SIG\w{1,8})|exit code (?P<exit_code>\d{1,5}))"
        r"|"
        r"Process(?:Raised|Exited)Exception",
        advice="Read the traceback inside the message.",
        source="innnky/so-vits-svc#46",
        example="torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL",
        may_start=True,
    ),
    row(
        "S028",
        "teardown_reminder",
        Role.BENIGN,
        Category.NONE,
        Tier.STORE,
        needle=("destroy_process_group() was not called", "terminate called without an active exception"),
        pattern=r"destroy_process_group\(\) was not called|terminate called without an active exception",
        advice="",
        source="Zeying-Gong/Falcon#12",
        example="Warning: WARNING: destroy_process_group() was not called before program exit, which can leak "
        "resources.",
    ),
)
