"""The catalogue in all its wordings: other releases, other launchers, other punctuation; and what only looks like it."""

import pytest

from diagnosis.observations import Category, Evidence, Origin, Role
from diagnosis.signatures import match

R, C, X = Role.ROOT, Role.CASCADE, Role.CONTEXT


def read(text: str):
    return match(text, Origin(), Evidence("log", 1, text))


WORDINGS = [
    ("what():  [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1803170 milliseconds before timing out.", "nccl_watchdog_timeout", {"rank": "3", "op": "ALLREDUCE", "ran_ms": "1803170"}),
    ("[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=BROADCAST, Timeout(ms)=1800000) ran for 1 milliseconds before timing out.", "nccl_watchdog_timeout", {"seq": "5"}),
    ("[PG ID 4 PG GUID 65(EXPERT_PG) Rank 9] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLTOALL_BASE, NumelIn=9, NumelOut=9, Timeout(ms)=600000) ran for 600012 milliseconds", "nccl_watchdog_timeout", {"rank": "9", "op": "ALLTOALL_BASE"}),
    ("ng30903:3063028:3066040 [3] NCCL INFO ncclCommInitRank comm 0x5a rank 3 nranks 4 cudaDev 3 nvmlDev 3 busId 1050 commId 0x1f - Init START", "nccl_comm", {"rank": "3", "world": "4", "bus": "1050"}),
    ("[rank0]: RuntimeError: NCCL Error 2: unhandled system error (run with NCCL_DEBUG=INFO for details)", "nccl_error_raised", {"kind": "unhandled system error (run with NCCL_DEBUG=INFO for details)"}),
    ("  - To our best knowledge, ranks [3, 17] are the lagging ranks that caused this timeout. They never joined any collectives", "desync_lagging_ranks", {"ranks": "3, 17"}),
    ("  - [0, 1] finished collective #12, but didn't join collective #13 (count from 1)", "desync_unfinished", {"missed": "13"}),
    ("RuntimeError: [Rank 0]: Rank 3 failed to pass monitoredBarrier in 600000 ms", "barrier_missed", {"ranks": "3"}),
    ("torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 7/8 clients joined.", "store_clients_missing", {"world": "8"}),
    ("RuntimeError: Timed out initializing process group in store based barrier on rank: 2, for key: store_based_barrier_key:1 (world_size=8, worker_count=7, timeout=0:30:00)", "store_barrier_missing", {}),
    ("[E socket.cpp:922] [c10d] The client socket has timed out after 900s while trying to connect to (node-0, 29500).", "store_unreachable", {}),
    ("[W socket.cpp:436] [c10d] The client socket has failed to connect to [node-0]:29500 (errno: 111 - Connection refused).", "store_unreachable", {}),
    ("ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 4043) of binary: /usr/bin/python3", "elastic_worker_failed", {"exit_code": "-9", "local_rank": "3", "pid": "4043"}),
    ("[2024-03-01 10:00:00,123] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 0 (pid: 77) of binary: python", "elastic_worker_failed", {"exit_code": "1"}),
    ("E0314 09:11:40.388000 4000 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 5 (pid: 12) of binary: /v/bin/python3.11", "elastic_worker_failed", {"exit_code": "-6"}),
    ("WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 4041 closing signal SIGTERM", "elastic_closing", {}),
    ("Batch 41: Invalid loss, terminating training", "loss_is_nan", {}),
    ("  rank      : 27 (local_rank: 3)", "elastic_field", {"rank": "27", "local_rank": "3"}),
    ("  exitcode  : -11 (pid: 771)", "elastic_field", {"exit_code": "-11", "pid": "771"}),
    ("../aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [17,0,0], thread: [96,0,0] Assertion `srcIndex < srcSelectDimSize` failed.", "device_assertion", {}),
    ("/pytorch/aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [5,0,0] Assertion `t >= 0 && t < n_classes` failed.", "device_assertion", {}),
    ("RuntimeError: CUDA error: unspecified launch failure", "cuda_launch_error", {}),
    ("RuntimeError: CUDA error: an illegal instruction was encountered", "cuda_launch_error", {}),
    ("RuntimeError: CUDA error: misaligned address", "cuda_launch_error", {}),
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "cuda_launch_error", {}),
    ("slurmstepd: error: Detected 1 oom_kill event in StepId=774.0. Some of the step tasks have been OOM Killed.", "slurm_oom", {}),
    ("slurmstepd: error: Detected 2 oom-kill event(s) in StepId=774.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.", "slurm_oom", {}),
    ("srun: error: gpu-12: task 3: Out Of Memory", "srun_task_oom", {}),
    ("Memory on the node (IP: 10.0.3.24, ID: 55aa) where the task (actor ID: 9, name=WorkerDict.__init__, pid=9388, memory used=88.11GB) was running was 486.31GB / 512.00GB (0.949826), which exceeds the memory usage threshold of 0.95.", "ray_memory_threshold", {}),
    ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "ray_task_oom", {}),
    ("(raylet, ip=10.0.0.9) 3 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 1f, IP: 10.0.0.9)", "ray_workers_oom", {}),
    ("run.sh: line 22: 71834 Killed                  python train.py", "shell_killed", {}),
    ("Fatal Python error: Segmentation fault", "segfault", {}),
    ("!!!!!!! Segfault encountered !!!!!!!", "segfault", {}),
    ("Fatal Python error: Bus error", "fatal_signal", {}),
    ("*** SIGBUS (@0x7f20ad805b40) received by PID 38 (TID 0x7f2907a4cf40) from PID 18446744072325454656; stack trace: ***", "fatal_signal", {"signal": "SIGBUS"}),
    ("*** SIGABRT received by PID 9361 (TID 9361) on cpu 40 from PID 9361; stack trace: ***", "python_aborted", {}),
    ("*** SIGABRT received at time=1763469143 on cpu 138 ***", "python_aborted", {}),
    ("[ 1001.113000] NVRM: Xid (PCI:0000:5d:00): 48, pid='<unknown>', name=<unknown>, DBE (Double Bit Error) ECC Error", "xid", {"xid": "48"}),
    ("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: SM (0x1). RST: No, D-RST: No", "xid", {"xid": "94"}),
    ("NVRM: Xid (0000:03:00): 31, Ch 00000008, engmask 00000111, intr 10000000", "xid", {"xid": "31"}),
    ("NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", "gpu_fell_off_bus", {}),
    ("kernel: NVRM: Xid (PCI:0000:19:00): 119, pid=1901, name=python, Timeout waiting for RPC from GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x8).", "xid", {"xid": "119"}),
    ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)", "sxid", {}),
    ("pcieport 0000:5a:01.0: AER: Uncorrected (Fatal) error received: 0000:5b:00.0", "pcie_error", {}),
    ("RuntimeError: DataLoader worker (pid 8841) is killed by signal: Segmentation fault. ", "loader_worker_segfault", {}),
    ("RuntimeError: DataLoader worker (pid 8841) is killed by signal: Killed. ", "loader_worker_killed", {"pid": "8841"}),
    ("RuntimeError: DataLoader worker (pid(s) 8841, 8842) exited unexpectedly", "loader_worker_exited", {}),
    ("KeyError: Caught KeyError in DataLoader worker process 0.", "loader_exception", {"worker": "0"}),
    ("RuntimeError: DataLoader timed out after 300 seconds", "loader_timeout", {"seconds": "300"}),
    ("RuntimeError: received 0 items of ancdata", "too_many_files", {}),
    ("OSError: [Errno 24] Too many open files: '/data/a.bin'", "too_many_files", {}),
    ("AssertionError: Rank 12: found NaN in local forward loss calculation. Device: 4, node: gpu-b17", "megatron_nan", {"rank": "12"}),
    ("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.", "loss_scale_floor", {}),
    ("node3:991:1188 [4] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.7<43120> with status=12 opcode=0 len=0 vendor err 129 (Recv)", "ib_completion", {"status": "12"}),
    ("NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129", "ib_completion", {}),
    ("node3:991:1188 [4] NCCL WARN NET/IB : mlx5_2:1 Got async event : port error", "ib_async_event", {}),
    ("mlx5_core 0000:5e:00.0 ens2f0: Link down", "mlx5_link", {}),
    ("n1:15:91 [3] misc/socket.cc:51 NCCL WARN socketProgress: Call to recv from 10.0.0.7<43120> failed : Connection reset by peer", "nccl_socket_error", {"peer": "10.0.0.7"}),
    ("n1:15:91 [3] NCCL WARN Net : Call to recv from 10.0.0.7<43120> failed : Broken pipe", "nccl_socket_error", {}),
    ("n1:15:91 [3] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.7<43120> failed : No route to host", "nccl_bootstrap", {"peer": "10.0.0.7"}),
    ("RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete", "gloo_timeout", {}),
    ("RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.4]:22012", "gloo_peer_closed", {}),
    ("slurmstepd: error: *** JOB 55595933 ON node-3017 CANCELLED AT 2025-01-10T15:27:25 DUE TO PREEMPTION ***", "slurm_cancelled", {"reason": "PREEMPTION"}),
    ("slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2025-01-10T15:27:25 DUE to SIGNAL Terminated ***", "slurm_cancelled", {}),
    ("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2025-01-10T15:27:25 ***", "slurm_cancelled", {}),
    ("srun: error: Node failure on n[3-4]", "slurm_node_failure", {"node": "n[3-4]"}),
    ("srun: error: n3: tasks 0-3: Exited with exit code 1", "srun_task_exited", {"tasks": "0-3"}),
    ("srun: error: n3: task 2: Segmentation fault (core dumped)", "srun_task_exited", {"signal": "Segmentation fault"}),
    ("OSError: [Errno 28] No space left on device: '/scratch/ckpt/a.pt'", "disk_full", {}),
    ("OSError: [Errno 122] Disk quota exceeded", "disk_full", {}),
    ("RuntimeError: [enforce fail at inline_container.cc:337] . unexpected pos 128 vs 22", "checkpoint_unexpected_pos", {}),
    ("RuntimeError: PytorchStreamReader failed reading file data/12: file read failed", "checkpoint_load_failed", {}),
    ("OSError: [Errno 116] Stale file handle", "storage_io_error", {}),
    ("OSError: [Errno 107] Transport endpoint is not connected", "storage_io_error", {}),
    ("nfs: server 10.0.9.9 not responding, timed out", "nfs_not_responding", {}),
    ("INFO: task python:4410 blocked for more than 122 seconds.", "hung_task", {}),
    ("watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [python:881]", "soft_lockup", {}),
    ("Memory cgroup out of memory: Killed process 4410 (python) total-vm:1kB, anon-rss:1kB", "kernel_oom_kill", {"pid": "4410"}),
    ("Out of memory: Kill process 4410 (python) score 912 or sacrifice child", "kernel_oom_kill", {"pid": "4410"}),
    ("torch.distributed.elastic.multiprocessing.api.SignalException: Process 77 got signal: 15", "agent_got_signal", {}),
    ("W0314 09:06:45.000000 77 torch/distributed/elastic/agent/server/api.py:725] Received 1 death signal, shutting down workers", "agent_got_signal", {}),
    ("RuntimeError: NPU out of memory. Tried to allocate 5.03 GiB (NPU 3; 60.96 GiB total capacity; 49.47 GiB already allocated; 49.47 GiB current active; 1.32 GiB free; 57.55 GiB reserved in total by PyTorch)", "cuda_oom", {"tried": "5.03 GiB", "gpu": "3", "free": "1.32 GiB"}),
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 3.31 GiB. GPU 0 has a total capacity of 128.00 GiB of which 780.24 MiB is free.", "cuda_oom", {"gpu": "0", "free": "780.24 MiB"}),
    ("RESOURCE_EXHAUSTED: Attempting to reserve 6.48G at the bottom of memory. That was not possible. There are 6.78G free", "xla_oom", {}),
    ("[rank7]:[E1011 10:00:00.000000001 compiler_depend.ts:444] [Rank 7] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=512, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800311 milliseconds before timing out.", "nccl_watchdog_timeout", {"rank": "7", "seq": "512", "op": "ALLREDUCE"}),
    ("EI0002: The wait execution of the Notify register times out. Reason: The Notify register has not received the Notify record from remote rank [4294967295].base information: [streamID:[1], taskID[39]]", "hccl_timeout", {"awaited": "4294967295"}),
    ("        The error from device(chipId:5, dieId:0), serial number is 17, hccl fftsplus task timeout occurred during task execution, stream_id:7", "hccl_timeout", {}),
    ("        rtDeviceSynchronize execute failed, reason=[task timeout][FUNC:FuncErrorReason]", "npu_stream_timeout", {}),
    ("RuntimeError: npuSynchronizeDevice:build/a.ts:479 NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507048", "npu_stream_timeout", {}),
    ("[Error]: The vector core execution is abnormal. ", "npu_core_exception", {}),
    ("  Message info[0]:RTS_HWTS: aicore exception, slot_id=31, stream_id=3", "npu_core_exception", {}),
    ("EZ9999[PID: 36234] 2026-08-05-09:26:01.676.352 (EZ9999):  The error from device(chipId:3, dieId:0), serial number is 7, there is an exception of aivec error, core id is 3", "npu_core_exception", {}),
    ("[ERROR] 2024-05-21-11:57:54 (PID:927000, Device:3, RankID:3) ERR02200 DIST call hccl api failed.", "npu_call_failed", {"rank": "3", "code": "ERR02200"}),
    ("amdgpu 0000:15:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!", "amd_uncorrectable", {"bus": "0000:15:00.0"}),
    ("amdgpu 0000:a6:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32777)", "amd_page_fault", {}),
    ("RuntimeError: synStatus=26 [Generic failure] Device acquire failed.", "gaudi_failed", {"status": "26"}),
    ("[rank6]: RuntimeError: [Rank:6] FATAL ERROR :: MODULE:PT_BRIDGE Exception in Launch thread...", "gaudi_failed", {}),
    ("Original error: DEADLINE_EXCEEDED: Barrier timed out. Id: [Init]Wait_for_all_tasks_to_register::0. This usually happens because a task triggered the barrier too early or too slowly.", "coordination_barrier", {"barrier": "[Init]Wait_for_all_tasks_to_register::0"}),
    ("Coordination agent is in ERROR: UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout.", "coordination_task_lost", {"rank": "37"}),
    ("E0926 17:26:32.075402  157988 coordination_service_agent.cc:332] Polled an error from coordination service (this can be an error from this or another task).", "coordination_ended", {}),
    ("2021-09-05 05:42:38,294     WARNING worker.py:1228 -- The node with node id: 0fc14938add3 and ip: 172.31.57.35 has been marked dead because the detector has missed too many heartbeats from it.", "ray_node_dead", {"node": "172.31.57.35"}),
    ("The node with client ID 1eadc9db2f074bfec34caf has been marked dead because the monitor has missed too many heartbeats from it.", "ray_node_dead", {}),
    ("The actor is dead because its node has died. Node Id: 56b97436e67393f15565e02427", "ray_owner_node_lost", {}),
    ("H100-2:19989:20082 [1] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer fe80::966d:ae03:8b:df78%ib0<53249> with error 4, opcode 32564, len 32564, vendor err 81 (Send)", "ib_completion", {"peer": "fe80::966d:ae03:8b:df78%ib0", "peer_status": "4"}),
    ("node9:815:864 [0] transport/net_ib.cu:80 NCCL WARN NET/IB : Got async event : local catastrophic error", "ib_async_event", {"event": "local catastrophic error"}),
    ("[E socket.cpp:860] [c10d] The client socket has timed out after 60s while trying to connect to 192.0.0.1:1234", "store_unreachable", {"plain_host": "192.0.0.1", "plain_port": "1234"}),
    ("6: [horovod_allreduce.0, horovod_allreduce.1, horovod_allreduce.10 ...]", "horovod_missing", {"rank": "6"}),
    ("[global_tensor_horovod_sum_have_data/HorovodAllreduce_globals_placeholder_0, x]", "horovod_missing", {}),
    ("HorovodBroadcast_conv_layer1_0 [missing ranks: 0, 3]", "horovod_missing", {"ranks": "0, 3"}),
    ("OSError: (External) CUDA error(2), out of memory. ", "paddle_oom", {}),
    ("Out of memory error on GPU 3. Cannot allocate 1.531250GB memory on GPU 3, available memory is only 416.625000MB.", "paddle_oom", {"gpu": "3", "free": "416.625000MB"}),
    ("  Remote daemon: [prterun-nid002944-1918870@0,1] on node nid003032", "mpi_daemon_lost", {"node": "nid003032"}),
    ("ValueError: nan loss encountered", "loss_is_nan", {}),
    ("FloatingPointError: Loss became infinite or NaN at iteration=2!", "loss_is_nan", {"iteration": "2"}),
    ("tensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN loss during training.", "loss_is_nan", {}),
    ("ERROR:tensorflow:Model diverged with loss = NaN.", "loss_is_nan", {}),
    ("RuntimeError: Train loss contains a NaN.", "loss_is_nan", {}),
    ("ValueError: The loss returned in `training_step` is nan.", "loss_is_nan", {}),
    ("fairseq WARNING | NaN detected in output of encoder.layers.3.fc1, shape: torch.Size([4, 512]), forward", "loss_is_nan", {"where": "encoder.layers.3.fc1"}),
    ("libfabric:451707:1708520807::efa:cq:efa_rdm_txe_handle_error():737<warn> err: 5, message: Invalid address My EFA addr: fi_addr_efa://[fe80::13]:0:1 My host id: i-0db7083f Peer EFA addr: fi_addr_efa://[fe80::b8]:0:9 Peer host id: i-0ce6d3d5 (7)", "ofi_failed", {"peer": "i-0ce6d3d5"}),
    ("slurmstepd: error: Job 123 exceeded memory limit (8392760 > 8388608), being killed", "batch_memory_limit", {}),
    ("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", "batch_memory_limit", {}),
    ("TERM_RUNLIMIT: job killed after reaching LSF run time limit.", "batch_time_limit", {}),
    ("Job exceeded its walltime limit. Job was aborted", "batch_time_limit", {}),
    ("Job deleted at request of root@hal-sched1", "batch_ended", {"user": "root@hal-sched1"}),
    ("2026-03-14 09:34:00 ERROR No progress for 1800 s, killing", "own_watchdog", {}),
    ("CRITICAL watchdog: no heartbeat from trainer for 30 min, aborting", "own_watchdog", {}),
    ("[watchdog] rank 3 made no progress for 1800s (last step 120), terminating job", "own_watchdog", {"stands": "3"}),
    ("hang detected: step 812 has not advanced in 20.5 minutes, exiting with code 42", "own_watchdog", {}),
    ("Trainer appears to be stuck (last step 41 s ago was 900 s late): restarting the pod", "own_watchdog", {}),
    ("[WARNING] [RankMonitorServer:58] Did not get initial heartbeat. Waited 1800.00 seconds.", "rank_monitor_timeout", {"seconds": "1800.00"}),
    ("Megascale detects a hang but cannot determine the root cause. Please inspect the full digest below.", "megascale_hang", {}),
    ("  The hosts that have bad TPUs are: tpu-3", "megascale_bad_chip", {"node": "tpu-3"}),
    ("Megascale detects a hang that is likely caused by running different modules on different devices.", "megascale_programs_differ", {}),
    ("tpunetd_client.cc:311] Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR in session e6c8; Start failure handling", "tpu_session_error", {}),
    ("CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error", "uncaught_exception", {"rank": "6", "type": "HfHubHTTPError"}),
    ("ERROR uncaught exception: torch.cuda.CudaError: x", "uncaught_exception", {"type": "torch.cuda.CudaError"}),
    ("torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([3, 11])", "checkpoint_ranks", {"failed": "3, 11"}),
    ("CheckpointingException: Global shape mismatch for loaded ((4096, 68)) and expected ((4096, 72)) tensor", "checkpoint_load_failed", {}),
    ("Memory failure: 0x3d4e9f2: Killing pt_main:4105 due to hardware memory corruption", "memory_failure", {"pid": "4105"}),
    ("mlx5_core 0000:9a:00.0 eth2: TX timeout detected", "mlx5_link", {}),
    ("srun: error: Task launch for 77.0 failed on node gpu-14: Socket timed out on send/recv operation", "slurm_launch_failed", {"node": "gpu-14"}),
    ("Warning  Failed  pod/w-2  Error: ErrImagePull", "image_not_pulled", {}),
    ("NCCL WARN NET/OFI Unable to insert remote address into address vector for device 1. RC: -22", "ofi_setup_failed", {}),
    ("Maintenance event imminent: TERMINATE_ON_HOST_MAINTENANCE", "node_shutting_down", {}),
    ("The replica workerpool1-2 ran out-of-memory and exited with a non-zero status of 137(SIGKILL).", "batch_memory_limit", {}),
    ("slurmstepd: error: Exceeded job memory limit at some point.", "batch_memory_limit", {}),
    ("I 03-14 09:05:12 controller.py:201] Cluster is preempted or failed. Recovering...", "job_preempted", {}),
    ("RuntimeError: [ERROR] HCCL error in: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:64", "hccl_call_failed", {}),
    ("EI0009: [PID: 22] Transport init error. Reason: [Create][DestLink]Create Dest error! createLink para:rank[1]", "hccl_link_error", {}),
    ("what():  oneCCL: ze_call.cpp:44 do_call: EXCEPTION: code: ZE_RESULT_ERROR_DEVICE_LOST", "xpu_device_lost", {}),
    ("[rank8]: DeepEP timeout check failed: rank = 8, thread = 0, value = 1024)", "deepep_timeout", {}),
    ("2m  Warning  OOMKilling  node/gpu-17   Memory cgroup out of memory: Killed process 4105 (python) total-vm:19kB", "kernel_oom_kill", {"node": "gpu-17", "pid": "4105"}),
    ("5m   Normal   NodeNotReady   node/gpu-17   Node gpu-17 status is now: NodeNotReady", "node_shutting_down", {"node": "gpu-17"}),
    ("AlgorithmError: ExecuteUserScriptError:", "called_process", {}),
    ("Cuda failure 'operation not supported'", "nccl_cuda_failure", {"text": "operation not supported"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "fields"), WORDINGS, ids=[f"{n}-{i}" for i, (_, n, _) in enumerate(WORDINGS)])
def test_other_wordings(text, name, fields):
    found = {symptom.signature: symptom for symptom in read(text)}
    assert name in found, list(found)
    assert {key: found[name].fields.get(key) for key in fields} == fields


@pytest.mark.parametrize("text", [text for text, _, _ in WORDINGS])
@pytest.mark.parametrize(
    "around", ["{}", "[rank3]: {}", "2026-03-14T09:00:00Z {}", "(WorkerDict pid=12, ip=10.0.0.2) {}", "{}\r", "  {}  "]
)
def test_whatever_stands_around_does_not_hide_a_line(text, around):
    """Envelopes are taken off before; what is left of them must do no harm."""
    names = {symptom.signature for symptom in read(text)}
    if names & {"elastic_field", "python_exception", "nccl_cuda_failure", "horovod_missing"}:
        pytest.skip("lines that begin a line")
    assert names & {symptom.signature for symptom in read(around.format(text))}


@pytest.mark.parametrize(
    ("xid", "role", "category"),
    [
        (79, R, Category.GPU_HARDWARE),
        (48, R, Category.GPU_HARDWARE),
        (64, R, Category.GPU_HARDWARE),
        (74, R, Category.GPU_HARDWARE),
        (95, R, Category.GPU_HARDWARE),
        (119, R, Category.GPU_HARDWARE),
        (145, R, Category.GPU_HARDWARE),
        (172, R, Category.GPU_HARDWARE),
        (45, C, Category.GPU_HARDWARE),
        (63, X, Category.GPU_HARDWARE),
        (154, X, Category.NONE),
    ],
)
def test_an_xid_means_what_the_catalogue_says(xid, role, category):
    (found,) = [symptom for symptom in read(f"NVRM: Xid (PCI:0000:5d:00): {xid}, pid=1") if symptom.signature == "xid"]
    assert (found.role, found.category) == (role, category)


@pytest.mark.parametrize("xid", [13, 31, 43, 69])
def test_an_xid_of_the_program_is_not_the_gpus_fault(xid):
    (found,) = [symptom for symptom in read(f"NVRM: Xid (PCI:0000:5d:00): {xid}, pid=1") if symptom.signature == "xid"]
    assert found.category is not Category.GPU_HARDWARE or found.role is not R


@pytest.mark.parametrize(("before", "role"), [(149, Role.CONFIRM), (79, Role.CONFIRM), (31, C), (13, C)])
def test_an_xid_that_follows_tells_of_the_one_before_it(before, role):
    """The first line may have left the ring of the kernel log: a fault of the hardware is named by its echo."""
    text = f"NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 00000001 caused by previous Xid {before}"
    (found,) = [symptom for symptom in read(text) if symptom.signature == "xid"]
    assert (found.role, found.category) == (role, Category.GPU_HARDWARE)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("gradients contain NaN, skipping update", X),
        ("Non-finite gradients: step skipped", X),
        ("gradients contain NaN, will not skip this step", R),
        ("Gradient contains NaN. Use skip_nan_steps=True to go on", R),
        ("Gradient contains NaN: set --skip-nan to go on", R),
        ("gradients contain NaN and must not be skipped", R),
    ],
)
def test_only_who_skips_a_step_goes_on(text, role):
    """A setting that would skip, or words that deny it, skip nothing."""
    (found,) = [symptom for symptom in read(text) if symptom.signature == "gradient_nan"]
    assert found.role is role


STANDS_ONLY_IF = [
    "watchdog armed: will abort after no progress for 1800 s",
    "if there is no heartbeat for 600 s the launcher kills the job",
    "heartbeat timeout 600 s, killing disabled",
    "watchdog: no heartbeat from trainer for 8 min",
    "no progress bar, refreshing every 10 s, use ctrl-c to abort",
    "restarting data iterator: no steps lost, 12 s",
]


@pytest.mark.parametrize("text", STANDS_ONLY_IF)
def test_a_watchdog_that_only_tells_its_rule_ends_nothing(text):
    """What it would do, or saw and did not act on, is no hang."""
    assert "own_watchdog" not in {symptom.signature for symptom in read(text)}


INNOCENT = [
    "policy: onHostMaintenance=TERMINATE_ON_HOST_MAINTENANCE",
    "handled by the hook for uncaught exceptions",
    "../csrc/Indexing.cu:12: f: block: [17,0,0], thread: [96,0,0] checked",
    "image pulled in 12 s",
    "Megascale is enabled: 4 slices",
    "Received SIGUSR1: dumping stacks",
    "tensorboard-1 exited with code 0",
    "NCCL setup TIMEOUT 10:00",
    "RuntimeError: NPU out of memory. Skipping batch 17",
    '{"step": 50, "loss": 2.31, "EventType": "Terminate"}',
    "amdgpu 0000:e3:00.0: amdgpu: MEM ECC is active.",
    "amdgpu 0000:e3:00.0: amdgpu: ring gfx uses VM inv eng 0 on hub 0",
    "NPU 3: memory usage 57.55 GiB of 60.96 GiB",
    "Barrier passed after 3.2 s on /job:jax_worker/replica:0/task:3",
    "The node with node id: 0fc14938add3 and ip: 172.31.57.35 joined the cluster",
    "HCCL execution timeout was set to never timeout, so it is bigger than watchdog timeout 1800000ms",
    "NCCL INFO NET/IB : No async event so far",
    "NCCL WARN NET/OFI Request 0x7f completed with error. RC: 5. Error: Input/output error",
    "skipped 1 batch with non-finite loss, 0.1 % of all",
    "exit code 0, ExitCode 0 of 8",
    "walltime used 3600 of limit 43200",
    "Raise the timeout if 'Watchdog caught collective operation timeout' appears in your log",
    "NCCL_DEBUG=INFO TORCH_NCCL_BLOCKING_WAIT=0 NCCL_ASYNC_ERROR_HANDLING=1",
    "--save-on-error --exit-on-missing-checkpoint ........... False",
    "INFO:root:Error rate: 0.0213",
    "eval/ErrorRate 0.22 eval/Exception_F1 0.9",
    "killed connections: 0, dropped: 0",
    "WARNING: loss scale window 1000, min loss scale 1",
    "training on 8 GPUs, oom_score_adj 0",
    "Downloading: preempted_jobs.json 100%",
    "step 100 loss 2.31 (nan skipped: 0)",
    "found 0 nan gradients",
    "UserWarning: The default value of antialias will change",
    "use_cache=True is incompatible with gradient checkpointing. Setting use_cache=False.",
    "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE",
    "exit code: 0",
    "The node is ready to train",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_it(text):
    assert not [symptom.signature for symptom in read(text) if symptom.role is R]
