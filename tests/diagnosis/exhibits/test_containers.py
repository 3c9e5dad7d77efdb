"""Container reports: JSON, YAML and `kubectl describe` tell the same; helpers beside the training are told apart."""

import json

import pytest

from diagnosis.exhibits import read_containers

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "train-3", "ownerReferences": [{"kind": "Job", "name": "train"}]},
    "spec": {
        "containers": [
            {"env": [{"name": "RANK", "value": "3"}], "image": "log:2", "name": "shipper"},
            {"image": "train:1", "name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": "8"}}},
        ],
        "nodeName": "gpu-17",
    },
    "status": {
        "containerStatuses": [
            {"lastState": {}, "name": "pytorch", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}},
            {"lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}, "name": "shipper", "state": {}},
        ],
        "phase": "Failed",
    },
}

YAML = """apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: train-3
  spec:
    containers:
    - image: log:2
      name: shipper
    - image: train:1
      name: pytorch
      resources:
        limits:
          nvidia.com/gpu: "8"
    nodeName: gpu-17
  status:
    containerStatuses:
    - lastState: {}
      name: pytorch
      state:
        terminated:
          exitCode: 137
          reason: OOMKilled
    phase: Failed
"""

DESCRIBED = """Name:         train-3
Namespace:    ml
Node:         gpu-17/10.0.0.7
Status:       Failed
Containers:
  shipper:
    Image:          log:2
    State:          Running
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
  pytorch:
    Limits:
      nvidia.com/gpu:  8
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
Events:           <none>
"""


@pytest.mark.parametrize(
    "text",
    [json.dumps(POD, indent=4), json.dumps(POD, indent=2), json.dumps(POD), YAML, DESCRIBED],
    ids=["json", "json of two blanks", "json on one line", "yaml", "describe"],
)
def test_the_container_with_the_gpus_is_the_one_that_tells(text: str):
    """Its pod, its node, its reason and its code, whatever the layout; the log shipper's ends are its own."""
    (end,) = read_containers(text).ends

    assert (end.pod, end.node, end.name) == ("train-3", "gpu-17", "pytorch")
    assert (end.reason, end.exit_code, end.is_failed) == ("OOMKilled", 137, True)
    assert "OOMKilled" in end.text


def test_a_line_is_told_with_its_number():
    """So that a person finds it."""
    (end,) = read_containers(DESCRIBED).ends

    assert DESCRIBED.split("\n")[end.line - 1] == end.text


@pytest.mark.parametrize(("oom", "code", "reasons"), [(True, 137, ["OOMKilled"]), (False, 137, [""]), (False, 0, [])])
def test_docker_tells_whether_memory_ended_it(oom: bool, code: int, reasons: list[str]):
    """`OOMKilled` proves it; a code alone does not; an end without an error is none."""
    text = json.dumps([{"Id": "3f", "State": {"OOMKilled": oom, "ExitCode": code}, "Name": "/train"}], indent=4)

    assert [end.reason for end in read_containers(text).ends] == reasons


def test_of_a_container_that_was_started_again_only_its_memory_is_told():
    """Why it ended otherwise stands in its own log."""
    for reason, count in (("OOMKilled", 1), ("Error", 0)):
        text = DESCRIBED.replace(
            "    State:          Terminated\n      Reason:       OOMKilled",
            f"    Last State:     Terminated\n      Reason:       {reason}",
        )

        assert len(read_containers(text).ends) == count


@pytest.mark.parametrize(
    "text", ["", "{", "[[[[", "Name:\n" * 50, "- " * 5000, "a:\n" + " a:\n" * 3000, '{"a": ' * 900, "\x00\xff: ]"]
)
def test_any_text_is_read_without_an_error(text: str):
    """Whatever it holds."""
    assert read_containers(text).ends == ()


@pytest.mark.parametrize("indent", [4, None], ids=["over many lines", "on one"])
def test_docker_tells_each_container_by_its_own_name(indent: int | None):
    """The name stands behind how it ended, and the next container follows."""
    states = {"/train": (False, 0), "/other": (True, 137), "/third": (False, 1)}
    report = [
        {"Id": "3f", "State": {"OOMKilled": oom, "ExitCode": code}, "Name": name}
        for name, (oom, code) in states.items()
    ]

    ends = read_containers(json.dumps(report, indent=indent)).ends

    assert [(end.pod, end.exit_code) for end in ends] == [("other", 137), ("third", 1)]
