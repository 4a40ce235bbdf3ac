# Apache-2.0, see LICENSE
"""The daemons of a control plane, which kubelet runs from files.

kubeadm writes the files once, and never again until an upgrade. A copy puts back
what somebody took away.
"""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os

from ansible_collections.gpucluster.host.plugins.module_utils import files

PLACE = "/etc/kubernetes/manifests"
COPIES = "/var/lib/gpucluster/kubernetes-manifests"
NAMES = ["etcd.yaml", "kube-apiserver.yaml", "kube-controller-manager.yaml", "kube-scheduler.yaml"]


def read(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def keep():
    """Copy what kubeadm has written."""
    for name in NAMES:
        content = read(PLACE, name)
        if content is not None and content != read(COPIES, name):
            files.write(os.path.join(COPIES, name), content, 0, 0, 0o600)


def put_back(check):
    """Put back the files that are missing, and say which."""
    changes = []
    for name in NAMES:
        content = read(COPIES, name)
        if content is None or read(PLACE, name) is not None:
            continue
        changes.append("%s/%s (put back)" % (PLACE, name))
        if not check:
            files.write(os.path.join(PLACE, name), content, 0, 0, 0o600)
    return changes
