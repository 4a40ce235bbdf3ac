#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: kubernetes_preflight
short_description: Look whether a host can be a member of a Kubernetes cluster
description:
  - Fails with everything that is in the way at once. Changes nothing.
  - Ports are looked at only where the host is no member yet.
options:
  endpoint:
    description: The API as host:port, whose host must resolve here.
    type: str
    required: true
  ports:
    description: TCP ports that must be free.
    type: list
    elements: int
    default: []
  cgroup_v1:
    description: Whether cgroup v1 will do.
    type: bool
    default: false
  containerd:
    description: The program whose version is looked at.
    type: str
    default: containerd
"""

EXAMPLES = r"""
- name: Look whether the host can be a member
  gpucluster.host.kubernetes_preflight:
    endpoint: ctl1:6443
    ports: [10250]
"""

RETURN = r"""
problems:
  description: Everything that is in the way.
  type: list
  elements: str
  returned: failure
"""

import errno
import os
import re
import socket

from ansible.module_utils.basic import AnsibleModule


def swap():
    with open("/proc/swaps") as f:
        used = [line.split()[0] for line in f.read().splitlines()[1:]]
    return ["swap is on (%s): turn it off with swapoff, and in /etc/fstab" % ", ".join(used)] if used else []


def kernel(module):
    """What the kernel must be able to do, or load a module for."""
    problems = []
    with open("/proc/filesystems") as f:
        known = {line.split()[-1] for line in f}
    if "overlay" not in known and module.run_command(["modprobe", "overlay"])[0] != 0:
        problems.append("the kernel has no overlay file system")
    nft = module.get_bin_path("nft", opt_dirs=["/usr/sbin", "/sbin"])
    if nft:
        # A table that is only checked, with what kube-proxy and the pod network use.
        rules = "\n".join(["table ip gpucluster-preflight {", "map m { type ipv4_addr : verdict; }", "chain c {",
                           "type nat hook postrouting priority 100;", "ip saddr 192.0.2.0/24 masquerade",
                           "numgen random mod 2 vmap { 0 : accept }", "}", "}", ""])
        rc, out, err = module.run_command([nft, "--check", "-f", "-"], data=rules)
        if rc != 0:
            problems.append("the kernel's nftables cannot do address translation: %s" % (err.strip().splitlines() or ["no reason"])[0])
    return problems


def cgroup(allowed):
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return []
    if not allowed:
        return ["control groups are those of v1: boot with systemd.unified_cgroup_hierarchy=1, or a release that has v2"]
    missing = [c for c in ("cpu", "memory", "pids", "cpuset") if not os.path.isdir("/sys/fs/cgroup/" + c)]
    return ["control groups lack %s" % ", ".join(missing)] if missing else []


def resolves(endpoint):
    host = endpoint.rsplit(":", 1)[0]
    try:
        socket.getaddrinfo(host, None, socket.AF_INET)
        return []
    except socket.gaierror:
        return ["the name %s of the API does not resolve here" % host]


def taken(ports):
    problems = []
    for port in ports:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("", port))
                s.listen(1)
            except OSError as e:
                if e.errno == errno.EADDRINUSE:
                    problems.append("port %d is taken by another program (see ss -ltnp)" % port)
    return problems


def packaged(module):
    """A kubelet of a package would be a second one."""
    rc, out, err = module.run_command(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n", "kubelet", "kubeadm"])
    names = [line.split()[0] for line in out.splitlines() if len(line.split()) > 1 and line.split()[1].startswith("ii")]
    return ["the package %s is installed; remove it, since the toolkit brings its own" % n for n in names]


# Older ones leave pods behind that were to end when they are started again, which
# the container toolkit of the GPUs has them do.
OLDEST = (1, 6, 20)


def runtime(module):
    rc, out, err = module.run_command([module.params["containerd"], "--version"])
    found = re.search(r"\sv?(\d+)\.(\d+)\.(\d+)", out)
    if rc != 0 or not found:
        return ["containerd does not tell its version: %s" % ((out + err).strip().splitlines() or ["it says nothing"])[0]]
    if tuple(int(part) for part in found.groups()) < OLDEST:
        return ["containerd is %s: install %s or newer" % (".".join(found.groups()), ".".join(str(part) for part in OLDEST))]
    return []


def main():
    module = AnsibleModule(
        argument_spec={
            "endpoint": {"type": "str", "required": True},
            "ports": {"type": "list", "elements": "int", "default": []},
            "cgroup_v1": {"type": "bool", "default": False},
            "containerd": {"type": "str", "default": "containerd"},
        },
        supports_check_mode=True,
    )
    problems = swap() + cgroup(module.params["cgroup_v1"]) + kernel(module) + resolves(module.params["endpoint"]) + packaged(module) + runtime(module)
    if not os.path.exists("/etc/kubernetes/kubelet.conf"):
        problems += taken(module.params["ports"])
    if problems:
        module.fail_json(msg="; ".join(problems), problems=problems)
    module.exit_json(changed=False)


if __name__ == "__main__":
    main()
