#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: kubeadm
short_description: Make a host a member of a Kubernetes cluster, of another release, or no member any more
description:
  - Begins a cluster on a host, lets the host join one, takes a member to another
    release, or takes back what all that has left on it.
  - Which cluster the host belongs to is written down before kubeadm is started and
    again when it has ended well. What a run that was cut off has left is reset,
    and the host begins anew. A host that is a member without such a record is
    somebody else's, and is left alone.
  - The release that a member has is written down when kubeadm has ended well, so
    that an upgrade that was cut off is done again.
options:
  state:
    description:
      - What the host is to be. An upgraded host has what kubeadm gives a member of
        the release, if it is a member; its kubelet is neither replaced nor restarted.
        The files of a control plane's daemons that somebody took away are put back.
      - An absent member's images go too, where nobody else uses the runtime. Others
        go on only if its member of etcd was removed before.
    type: str
    choices: [initialised, joined, upgraded, absent]
    required: true
  version:
    description: The release, such as v1.36.3. It is that of the kubeadm that is on the host.
    type: str
    default: ""
  leads:
    description:
      - Whether an upgrade begins on this host, so that it changes what the whole cluster has.
        Another control plane leads too, where the cluster has not the release yet.
    type: bool
    default: false
  patches:
    description: Folder with kubeadm's patches, for an upgrade.
    type: str
    default: /etc/gpucluster-kubernetes/patches
  cluster:
    description: Name of the cluster.
    type: str
    default: ""
  config:
    description: The file with kubeadm's configuration.
    type: str
    default: ""
  ignore_preflight:
    description: Checks of kubeadm whose result does not matter.
    type: list
    elements: str
    default: []
  discovery:
    description:
      - A kubeconfig with the API's address, the authority by which it is known and
        a bootstrap token. It lies on the host only while the host joins.
    type: str
    default: ""
  certificates:
    description: For a control plane that joins others. Files of the cluster's authorities by their path below /etc/kubernetes/pki.
    type: dict
    default: {}
  replaces:
    description:
      - Whether the other control planes hold all of the cluster's data. What a
        host that is no member any more still has of it is then removed before it
        joins; else it is kept, since it may be the only copy.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Begin the cluster
  gpucluster.host.kubeadm:
    state: initialised
    cluster: train
    config: /etc/gpucluster-kubernetes/init.yaml
"""

RETURN = r"""
changes:
  description: What was done.
  type: list
  elements: str
  returned: always
foreign:
  description: Whether the host is a member of a cluster that is not ours, so that nothing was taken back.
  type: bool
  returned: absent
idle:
  description: Whether nobody uses the container runtime any more.
  type: bool
  returned: absent
"""

import fcntl
import os
import re
import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.gpucluster.host.plugins.module_utils import files, kubernetes, static_pods

# A node that was a member a moment ago counts as ready for that long, and is refused under its name.
FORGOTTEN_AFTER = 90

PATH = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

SECRET = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}|--certificate-key \S+")


def said(out, err):
    """What kubeadm complains about, without what could be a credential."""
    lines = [t.strip() for t in (err + "\n" + out).splitlines() if t.strip()]
    wrong = [t for t in lines if re.search(r"error|\[ERROR|fatal|timed out|refused", t, re.I)]
    return SECRET.sub("***", "; ".join(wrong[:6] or lines[-6:]))[-1200:]


def member(module, record):
    """Whether nothing is to be done. Fails where something else is in the way."""
    cluster, found = module.params["cluster"], kubernetes.traces()
    if record.get("cluster") and record["cluster"] != cluster:
        module.fail_json(msg="the host is a member of the cluster %s; take it out of that first" % record["cluster"])
    if module.params["replaces"] and found == [kubernetes.DATA]:
        return False
    if not record and found:
        module.fail_json(msg="the host is a member of a cluster that is not ours (%s); take it out with kubeadm reset, and remove that" % ", ".join(found))
    if record.get("done") and "/etc/kubernetes/kubelet.conf" in found:
        return True
    if record.get("done") and kubernetes.DATA in found and not module.params["replaces"]:
        module.fail_json(msg="the host has lost /etc/kubernetes/kubelet.conf and holds the cluster's data in /var/lib/etcd: "
                             "put the file back, or save the data and remove it")
    return False


def enter(module, lock):
    """Run kubeadm."""
    verb = "init" if module.params["state"] == "initialised" else "join"
    words = ["kubeadm", verb, "--config", module.params["config"]]
    if verb == "init":
        # Whoever joins is given a token of its own.
        words.append("--skip-token-print")
    if module.params["ignore_preflight"]:
        words.append("--ignore-preflight-errors=" + ",".join(module.params["ignore_preflight"]))
    end = time.time() + FORGOTTEN_AFTER
    while True:
        # kubeadm holds the lock as long as it lives: a run that is cut off leaves it at work.
        rc, out, err = module.run_command(words, environ_update=PATH, pass_fds=[lock.fileno()])
        if rc == 0:
            return
        if "already exists in the cluster" not in err or time.time() > end:
            module.fail_json(msg="kubeadm %s: %s" % (verb, said(out, err)))
        time.sleep(5)


def become_member(module, lock):
    record = kubernetes.record()
    if member(module, record):
        return []
    left = kubernetes.traces()
    changes = ["what an earlier membership had left (removed)"] if left else []
    done = "cluster %s begun" if module.params["state"] == "initialised" else "cluster %s joined"
    changes.append(done % module.params["cluster"])
    if module.check_mode:
        return changes
    if module.params["state"] == "joined" and not module.params["discovery"]:
        module.fail_json(msg="the host is not a member yet, and was given nothing to join with")
    # A file that is not there is our mistake. A member needs none: the only control plane has nothing to join with.
    if not os.path.exists(module.params["config"]):
        module.fail_json(msg="there is no %s" % module.params["config"])
    if record or left:
        kubernetes.reset(module)
    kubernetes.note(cluster=module.params["cluster"], done=False)
    try:
        hand_over(module)
        enter(module, lock)
    finally:
        kubernetes.empty(kubernetes.DISCOVERY)
    static_pods.keep()
    kubernetes.note(cluster=module.params["cluster"], done=True, version=module.params["version"])
    return changes


def hand_over(module):
    """Place what the host is let in with."""
    if module.params["discovery"]:
        files.write(kubernetes.DISCOVERY, module.params["discovery"].encode(), 0, 0, 0o600)
    for name, content in sorted(module.params["certificates"].items()):
        path = os.path.normpath(os.path.join("/etc/kubernetes/pki", name))
        if not path.startswith("/etc/kubernetes/pki/"):
            module.fail_json(msg="%s is not below /etc/kubernetes/pki" % path)
        files.write(path, content.encode(), 0, 0, 0o600)


ADMIN = "/etc/kubernetes/admin.conf"


def cluster_version(module):
    """The release that the cluster is to have, as kubeadm wrote it down."""
    rc, out, err = module.run_command(["kubectl", "--kubeconfig", ADMIN, "--request-timeout=30s", "-n", "kube-system", "get", "configmap",
                                       "kubeadm-config", "-o", "jsonpath={.data.ClusterConfiguration}"], environ_update=PATH)
    found = re.search(r"^kubernetesVersion: (\S+)$", out, re.M)
    if rc != 0 or not found:
        module.fail_json(msg="what release the cluster has cannot be read: %s" % (err or out).strip()[-600:])
    return found.group(1)


def numbers(version):
    return [int(n) for n in re.findall(r"[0-9]+", version)[:3]]


def upgrade(module, lock):
    record, version = kubernetes.record(), module.params["version"]
    had = record.get("version", "")
    if not record.get("done") or not os.path.exists("/etc/kubernetes/kubelet.conf"):
        return []
    back = static_pods.put_back(module.check_mode)
    if had == version:
        return back
    if numbers(had) > numbers(version):
        module.fail_json(msg="the host has %s, and no member goes back to %s" % (had, version))
    changes = back + ["%s to %s" % (had or "an older release", version)]
    if module.check_mode:
        return changes
    common = ["--patches", module.params["patches"]]
    if module.params["ignore_preflight"]:
        common.append("--ignore-preflight-errors=" + ",".join(module.params["ignore_preflight"]))
    words = ["kubeadm", "upgrade", "node"]
    if module.params["leads"] or os.path.exists(ADMIN) and cluster_version(module) != version:
        words = ["kubeadm", "upgrade", "apply", version, "--yes"]
    rc, out, err = module.run_command(words + common, environ_update=PATH, pass_fds=[lock.fileno()])
    if rc != 0:
        module.fail_json(msg="kubeadm upgrade: %s" % said(out, err))
    static_pods.keep()
    kubernetes.note(cluster=record["cluster"], done=True, version=version)
    return changes


def leave(module):
    record, changes = kubernetes.record(), []
    if not record and kubernetes.traces():
        module.exit_json(changed=False, changes=[], foreign=True, idle=False)
    if record:
        changes.append("cluster %s left" % record.get("cluster", ""))
        if not module.check_mode:
            kubernetes.reset(module)
    changes += kubernetes.forget_mirrors(module.check_mode)
    idle = kubernetes.idle(module)
    if record and idle and not module.check_mode:
        kubernetes.forget_images(module)
    module.exit_json(changed=bool(changes), changes=changes, foreign=False, idle=idle)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["initialised", "joined", "upgraded", "absent"], "required": True},
            "version": {"type": "str", "default": ""},
            "leads": {"type": "bool", "default": False},
            "patches": {"type": "str", "default": "/etc/gpucluster-kubernetes/patches"},
            "cluster": {"type": "str", "default": ""},
            "config": {"type": "str", "default": ""},
            "ignore_preflight": {"type": "list", "elements": "str", "default": []},
            "discovery": {"type": "str", "default": "", "no_log": True},
            "certificates": {"type": "dict", "default": {}, "no_log": True},
            "replaces": {"type": "bool", "default": False},
        },
        required_if=[("state", "initialised", ("cluster", "config", "version")), ("state", "joined", ("cluster", "config", "version")),
                     ("state", "upgraded", ("version",))],
        supports_check_mode=True,
    )
    with open("/run/gpucluster-kubeadm.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if module.params["state"] == "absent":
            leave(module)
        changes = upgrade(module, lock) if module.params["state"] == "upgraded" else become_member(module, lock)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
