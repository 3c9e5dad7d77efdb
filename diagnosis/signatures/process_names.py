"""Whose process it is, by the name that a kernel prints: a kernel tells of processes of anybody on the machine."""

import re
from collections.abc import Callable, Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Ruling

_TRAINING = re.compile(
    r"(?i)^i?python|^pt_|^torch|^ray\b|\.py$|train|finetune|megatron|deepspeed|accelerate|lightning|nemo|llm|jax|xla|"
    r"rank[-_ ]?\d"
)
"""Names of interpreters, loader workers and launchers, and those that trainings give themselves."""
_OTHERS = re.compile(
    r"(?i)^\(?(?:systemd|dbus|init$|sshd|bash$|sh$|zsh$|dash$|cron|rsyslog|syslog|journal|auditd|agetty|login|polkit|"
    r"udev|snapd|chronyd|ntpd|NetworkManager|irqbalance|tuned|dockerd|docker|containerd|runc|crio|conmon|podman|"
    r"kube|etcd|coredns|calico|cilium|flannel|pause$|slurm|munge|pbs_|sge_|lsf|lim$|sbatchd|condor|java|node$|npm|"
    r"nodejs|mysqld|mariadb|postgres|mongo|redis|memcached|elasticsearch|clickhouse|nginx|httpd|apache|haproxy|envoy|"
    r"prometheus|grafana|telegraf|collectd|fluent|filebeat|metricbeat|vector$|logstash|promtail|datadog|dd-agent|"
    r"zabbix|nagios|netdata|dcgm|nv-hostengine|nvidia-|nvsm|gpud|falcon|osquery|wazuh|clamd|freshclam|splunk|puppet|chef|salt|"
    r"ansible|rsync|rclone|tar$|cp$|dd$|find$|du$|git(?:-|$)|ssh$|scp$|sftp|vim?$|tmux|screen|htop|top$|apt(?:-|$)|dpkg|yum|dnf|"
    r"rpm|unattended|chrom|firefox|Xorg|gnome|kde|code$|code-server|jupyter|Web Content|Isolated|electron|"
    r"cc1|gcc|clang|ld$|make$|cmake|ninja|cargo|rustc|go$|R$|matlab|perl|php|ruby|ffmpeg|minio|vault|consul|ora_|oracle|"
    r"sqlservr|tritonserver|ollama|stress|qemu|libvirt|ceph|gluster|lustre|mmfsd|weka|beegfs|nfsd|rpc|iscsi|multipathd|lvm|"
    r"smartd|ipmi|opensm|ibacm|rdma|watchdog|kworker|ksoftirqd|kswapd|kcompactd|khugepaged|khungtaskd|kthread|"
    r"kdevtmpfs|kauditd|kjournald|jbd2|xfs|ext4|btrfs|txg_|zfs|z_|md\d|dm-|dmcrypt|loop\d|nvme|scsi|usb|irq/|"
    r"migration/|rcu|cpuhp|idle_inject|ldlm|ptlrpc|ll_|kiblnd|socknal|flush|writeback|swapper|nfs|cifs|fuse$|fusermount|oom_reaper|"
    r"mlx|nv_|nvidia|UVM )|exporter|agent\b|daemon|_shipper|-shipper|monitor"
)
"""Daemons, databases, browsers, tools and threads of the kernel that are known to be no training."""


def may_train(name: str) -> bool:
    """Whether it calls itself as trainings do."""
    return _TRAINING.search(name) is not None


def is_known_other(name: str) -> bool:
    """True for a browser, a log shipper, a daemon or a thread of the kernel, and for one without a name."""
    return not name or (not may_train(name) and _OTHERS.search(name) is not None)


def where_it_may_train(role: Role, category: Category) -> Callable[[Mapping[str, str]], Ruling]:
    """That role for a process that calls itself as trainings do, and only context for any other."""
    return lambda fields: (role if may_train(fields.get("name", "")) else Role.CONTEXT, category)
