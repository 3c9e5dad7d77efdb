"""What `docker inspect`, `kubectl get` and `kubectl describe` tell of containers that ended, and of those beside them."""

import json
from typing import Any

from tests.diagnosis.root_cause.build import Story, clock, plain, traceback


def docker(*, oom: bool, code: int) -> str:
    state = {
        "Status": "exited",
        "Running": False,
        "OOMKilled": oom,
        "Dead": False,
        "Pid": 0,
        "ExitCode": code,
        "Error": "",
        "StartedAt": "2026-03-14T08:50:01Z",
        "FinishedAt": "2026-03-14T09:10:03Z",
    }
    return json.dumps([{"Id": "3f2a9c", "Path": "torchrun", "State": state, "Name": "/train"}], indent=4) + "\n"


def pod(name: str, node: str, phase: str, *statuses: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"app": "train"}, "name": name, "namespace": "ml"},
        "spec": {"containers": [{"image": "train:1", "name": status["name"]} for status in statuses], "nodeName": node},
        "status": {"containerStatuses": list(statuses), "hostIP": "10.0.0.7", "phase": phase},
    }


def ended(name: str, reason: str, code: int, *, now: bool) -> dict[str, Any]:
    terminated = {"terminated": {"exitCode": code, "finishedAt": "2026-03-14T09:04:02Z", "reason": reason}}
    running = {"running": {"startedAt": "2026-03-14T09:05:00Z"}}
    states = {"lastState": {}, "state": terminated} if now else {"lastState": terminated, "state": running}
    return {
        "image": "train:1",
        "lastState": states["lastState"],
        "name": name,
        "ready": not now,
        "state": states["state"],
    }


def runs(name: str) -> dict[str, Any]:
    return {"image": "x", "lastState": {}, "name": name, "ready": True, "state": {"running": {}}}


def describe(node: str, reason: str, code: int) -> str:
    return (
        f"Name:             train-worker-3\nNamespace:        ml\nNode:             {node}/10.0.0.7\n"
        "Start Time:       Sat, 14 Mar 2026 08:50:00 +0000\nStatus:           Failed\nContainers:\n  pytorch:\n"
        f"    Image:         train:1\n    State:          Terminated\n      Reason:       {reason}\n      Exit Code:    {code}\n"
        "    Ready:          False\nConditions:\n  Type              Status\n  Ready             False\n"
    )


POD_YAML = """apiVersion: v1
kind: Pod
metadata:
  labels:
    app: train
  name: train-worker-3
spec:
  containers:
  - image: train:1
    name: pytorch
    resources:
      limits:
        nvidia.com/gpu: "8"
  nodeName: gpu-17
status:
  containerStatuses:
  - image: train:1
    lastState:
      terminated:
        exitCode: 137
        reason: OOMKilled
    name: pytorch
    state:
      running:
        startedAt: "2026-03-14T09:05:00Z"
  phase: Running
"""


CONTAINERS = (
    Story(
        "docker inspect tells OOMKilled",
        {"train.log": plain(1, 120), "docker-inspect.json": docker(oom=True, code=137)},
        "host_oom",
        evidence='"OOMKilled": true',
    ),
    Story(
        "docker inspect of a plain error",
        {
            "train.log": plain(1, 120, rank=2) + traceback("ValueError: bad shape", prefix="[rank2]: "),
            "inspect.json": docker(oom=False, code=1),
        },
        "rank_crash",
        rank=2,
    ),
    Story(
        "kubectl get pod -o json with OOMKilled",
        {
            "pytorchjob-worker-3.log": plain(1, 120),
            "pod.json": json.dumps(
                pod("train-worker-3", "gpu-17", "Failed", ended("pytorch", "OOMKilled", 137, now=True)), indent=4
            ),
        },
        "host_oom",
        node="gpu-17",
        evidence="OOMKilled",
    ),
    Story(
        "kubectl get pod -o yaml with lastState OOMKilled",
        {"worker.log": plain(1, 120), "pod.yaml": POD_YAML},
        "host_oom",
        node="gpu-17",
        evidence="OOMKilled",
    ),
    Story(
        "kubectl get pods -o json list: one of four",
        {
            "train.log": plain(1, 120),
            "pods.json": json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "List",
                    "items": [pod(f"train-worker-{i}", f"gpu-{i:02d}", "Running", runs("pytorch")) for i in range(3)]
                    + [pod("train-worker-3", "gpu-17", "Failed", ended("pytorch", "OOMKilled", 137, now=True))],
                },
                indent=4,
            ),
        },
        "host_oom",
        node="gpu-17",
    ),
    Story(
        "exit 137 with reason Error is no proof",
        {
            "train.log": plain(1, 120),
            "pod.json": json.dumps(
                pod("train-worker-3", "gpu-17", "Failed", ended("pytorch", "Error", 137, now=True)), indent=4
            ),
        },
        "host_oom",
        also=("rank_crash",),
        node="gpu-17",
    ),
    Story(
        "kubectl describe tells the node of an OOM",
        {"worker-3.log": plain(1, 120), "describe.txt": describe("gpu-17", "OOMKilled", 137)},
        "host_oom",
        node="gpu-17",
    ),
    Story(
        "kubectl describe tells the node of a segfault",
        {"log.txt": plain(1, 120), "describe.txt": describe("gpu-17", "Error", 139)},
        "rank_crash",
        node="gpu-17",
    ),
    Story(
        "an image that cannot be pulled",
        {
            "events.txt": 'LAST SEEN   TYPE      REASON      OBJECT              MESSAGE\n5m          Warning   Failed      pod/train-worker-2  Failed to pull image "reg/train:9": rpc error: code = NotFound desc = failed to pull and unpack image\n5m          Warning   Failed      pod/train-worker-2  Error: ErrImagePull\n4m          Warning   Failed      pod/train-worker-2  Error: ImagePullBackOff\n',
            "master.log": f"{clock(0)},000 INFO [rank0] waiting for 3 workers to join\n",
        },
        "init_timeout",
        also=("rank_crash",),
        evidence="pull",
    ),
    Story(
        "a sidecar was OOMKilled, the trainer trains on",
        {
            "train.log": plain(1, 300),
            "pod.json": json.dumps(
                pod(
                    "train-worker-3",
                    "gpu-17",
                    "Running",
                    runs("pytorch"),
                    ended("log-shipper", "OOMKilled", 137, now=False),
                ),
                indent=4,
            ),
        },
        "none",
    ),
    Story(
        "docker inspect of a healthy container",
        {"train.log": plain(1, 200), "inspect.json": docker(oom=False, code=0)},
        "none",
    ),
    Story(
        "kubectl get pods, all of them run after some restarts",
        {
            "train.log": plain(1, 200),
            "pods.txt": "NAME             READY   STATUS      RESTARTS      AGE\ntrain-master-0   1/1     Running     2 (5h ago)    6h\ntrain-worker-0   1/1     Running     0             6h\nold-job-xyz      0/1     Error       0             9d\n",
        },
        "none",
    ),
)
