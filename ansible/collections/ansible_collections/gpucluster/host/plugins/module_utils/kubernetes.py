# Apache-2.0, see LICENSE
"""A host as a member of a Kubernetes cluster: what says so, and what it leaves."""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

import glob
import ipaddress
import json
import os
import re
import shutil

from ansible_collections.gpucluster.host.plugins.module_utils import files, static_pods

# Says of which cluster we made the host a member, and whether that came to its end.
RECORD = "/var/lib/gpucluster/kubernetes.json"
# What a host finds the cluster with, while it joins.
DISCOVERY = "/run/gpucluster-kubernetes-discovery.conf"
SOCKET = "unix:///run/containerd/containerd.sock"

# What etcd has stored.
DATA = "/var/lib/etcd/member"

# What a member has. Each is there also when kubeadm was cut off.
TRACES = ["/etc/kubernetes/kubelet.conf", "/etc/kubernetes/bootstrap-kubelet.conf", "/etc/kubernetes/admin.conf",
          "/etc/kubernetes/pki/ca.crt", "/var/lib/kubelet/config.yaml", DATA]

# What kubeadm and the daemons leave on a host that is no member any more.
LEFT = ["/etc/kubernetes", "/var/lib/kubelet", "/var/lib/etcd", "/var/lib/cni", "/run/flannel", "/var/log/pods", "/var/log/containers",
        "/etc/cni/net.d/10-containerd-net.conflist", DISCOVERY, static_pods.COPIES]

TABLES = re.compile(r"^table (ip6?|inet) (kube-proxy|flannel-ipv[46]|cni_hostport)$", re.M)
CHAINS = re.compile(r"KUBE-|CNI-|FLANNEL-")
# The lines of a table that does nothing, as iptables leaves behind.
EMPTY = re.compile(r"^\s*(#.*|table .* \{|chain .* \{|type .* policy accept;|\})?$")


def record():
    try:
        with open(RECORD) as f:
            return json.load(f)
    except (FileNotFoundError, ValueError):
        return {}


def note(**what):
    files.write(RECORD, json.dumps(what, sort_keys=True).encode(), 0, 0, 0o600)


def forget():
    if os.path.exists(RECORD):
        os.unlink(RECORD)


def traces():
    return [path for path in TRACES if os.path.lexists(path)]


def empty(path):
    """Remove a path; of a mount point what is in it."""
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
    elif os.path.ismount(path):
        for name in os.listdir(path):
            empty(os.path.join(path, name))
    else:
        shutil.rmtree(path)


def mounts_below(folders):
    """Mount points below those folders, the deepest first."""
    with open("/proc/self/mounts") as f:
        points = [line.split()[1].replace("\\040", " ") for line in f]
    return sorted((p for p in points if any(p.startswith(d + "/") for d in folders)), reverse=True)


def reset(module):
    """Make a host what it was before it was a member. Whatever is gone already is
    passed over; the container runtime is left running."""
    run = module.run_command
    run(["systemctl", "stop", "kubelet.service"])
    if module.get_bin_path("kubeadm", opt_dirs=["/usr/local/bin"]):
        # It asks the API for its configuration, which may never answer.
        # A member of etcd is not taken out here: kubeadm goes on where that fails, and the others lose their majority.
        run(["timeout", "-k", "5", "90", "kubeadm", "reset", "--force", "--cri-socket", SOCKET, "--skip-phases=remove-etcd-member"])
    end_containers(module)
    for point in mounts_below(["/var/lib/kubelet"]) + glob.glob("/run/netns/cni-*"):
        run(["umount", "-l", point])
    for path in glob.glob("/run/netns/cni-*"):
        empty(path)
    if os.path.isdir("/run/netns") and not os.listdir("/run/netns") and not os.path.ismount("/run/netns"):
        os.rmdir("/run/netns")
    routes = network_of_flannel()
    for path in LEFT:
        empty(path)
    clean_network(module, routes)
    forget()


def end_containers(module):
    """End what kubeadm could not, because the runtime did not answer it."""
    ctr = ["timeout", "30", "ctr", "--namespace", "k8s.io"]
    rc, out, err = module.run_command(ctr + ["containers", "list", "--quiet"])
    for name in out.split() if rc == 0 else []:
        module.run_command(ctr + ["tasks", "delete", "--force", name])
        module.run_command(ctr + ["containers", "delete", name])


def network_of_flannel():
    try:
        with open("/run/flannel/subnet.env") as f:
            return re.findall(r"^FLANNEL_NETWORK=(\S+)$", f.read(), re.M)
    except FileNotFoundError:
        return []


def clean_network(module, networks):
    """Take back what kube-proxy, kubelet, flannel and the runtime's plugins told the kernel."""
    run = module.run_command
    rc, out, err = run(["nft", "list", "tables"])
    for family, name in TABLES.findall(out):
        run(["nft", "delete", "table", family, name])
    for family in ("iptables", "ip6tables"):
        rc, rules, err = run([family + "-save"])
        if rc == 0 and CHAINS.search(rules):
            kept = "".join(line for line in rules.splitlines(True) if not CHAINS.search(line))
            run([family + "-restore"], data=kept)
    for family in ("ip", "ip6"):
        for name in ("filter", "mangle", "nat", "raw"):
            rc, table, err = run(["nft", "list", "table", family, name])
            if rc == 0 and all(EMPTY.match(line) for line in table.splitlines()):
                run(["nft", "delete", "table", family, name])
    for link in ("cni0", "flannel.1", "kube-ipvs0", "nodelocaldns"):
        if os.path.exists("/sys/class/net/" + link):
            run(["ip", "link", "delete", link])
    rc, out, err = run(["ip", "-4", "-o", "route"])
    for line in out.splitlines():
        destination = line.split()[0]
        try:
            inside = any(ipaddress.ip_network(destination).subnet_of(ipaddress.ip_network(n)) for n in networks)
        except ValueError:
            continue
        if inside:
            run(["ip", "route", "delete", destination])


def forget_mirrors(check):
    """Remove what says that images come from the mirror, and say what was removed."""
    removed = []
    for path in sorted(glob.glob("/etc/containerd/certs.d/*/hosts.toml")):
        with open(path) as f:
            if "written by gpucluster" not in f.read():
                continue
        removed.append("%s (removed)" % path)
        if not check:
            os.unlink(path)
            for folder in (os.path.dirname(path), "/etc/containerd/certs.d"):
                if not os.listdir(folder):
                    os.rmdir(folder)
    return removed


def idle(module):
    """Whether nobody but us uses the container runtime."""
    if module.run_command(["systemctl", "is-active", "--quiet", "containerd.service"])[0] != 0:
        return True
    rc, out, err = module.run_command(["timeout", "30", "ctr", "namespaces", "list", "--quiet"])
    return not [n for n in out.split() if n != "k8s.io"]


def forget_images(module):
    """Remove the runtime's images and layers."""
    module.run_command(["systemctl", "stop", "containerd.service"])
    for point in mounts_below(["/run/containerd"]):
        module.run_command(["umount", "-l", point])
    for path in ("/var/lib/containerd", "/run/containerd"):
        empty(path)
