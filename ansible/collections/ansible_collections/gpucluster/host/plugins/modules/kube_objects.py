#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: kube_objects
short_description: Apply files to the cluster of this control plane
description:
  - Waits until the API is ready, then has every object of the files be as it is
    written there. A kubelet of another release starts the API server again, at a
    moment of its own; what fails meanwhile is done again when the API is ready.
options:
  paths:
    description: The files, in the order in which they are applied.
    type: list
    elements: str
    required: true
  kubeconfig:
    description: How the API is reached.
    type: str
    default: /etc/kubernetes/admin.conf
  kubectl:
    description: The program by path.
    type: str
    default: /usr/local/bin/kubectl
  wait:
    description: How long the API may take to be ready, in seconds.
    type: int
    default: 180
"""

EXAMPLES = r"""
- name: Give pods their network
  gpucluster.host.kube_objects:
    paths: [/etc/gpucluster-kubernetes/manifests/20-pod-network.yaml]
"""

RETURN = r"""
changes:
  description: The objects that were made or changed.
  type: list
  elements: str
  returned: always
"""

import re
import time

from ansible.module_utils.basic import AnsibleModule


def kubectl(module, *words):
    common = [module.params["kubectl"], "--kubeconfig", module.params["kubeconfig"], "--request-timeout=30s"]
    return module.run_command(common + list(words))


# What kubectl says where nobody answers.
AWAY = re.compile(r"connection refused|connection reset|unexpected EOF|timed? ?out|deadline exceeded|unable to connect|lost connection", re.I)


def await_ready(module, end):
    while True:
        rc, out, err = kubectl(module, "get", "--raw", "/readyz")
        if rc == 0:
            return
        if time.time() > end:
            module.fail_json(msg="the API is not ready after %d s: %s" % (module.params["wait"], (err or out).strip()[-600:]))
        time.sleep(1)


def apply(module, path, end):
    """Apply a file, again and again where the API goes away. Returns what changed."""
    changes = []
    while True:
        rc, out, err = kubectl(module, "apply", "-f", path, *(["--dry-run=server"] if module.check_mode else []))
        for line in (line.strip() for line in out.splitlines()):
            if line and "unchanged" not in line.split() and line not in changes:
                changes.append(line)
        if rc == 0:
            return changes
        if time.time() > end or not AWAY.search(err) and kubectl(module, "get", "--raw", "/readyz")[0] == 0:
            module.fail_json(msg="%s: %s" % (path, err.strip()[-600:]), changed=bool(changes), changes=changes)
        time.sleep(1)
        await_ready(module, end)


def main():
    module = AnsibleModule(
        argument_spec={
            "paths": {"type": "list", "elements": "str", "required": True},
            "kubeconfig": {"type": "str", "default": "/etc/kubernetes/admin.conf"},
            "kubectl": {"type": "str", "default": "/usr/local/bin/kubectl"},
            "wait": {"type": "int", "default": 180},
        },
        supports_check_mode=True,
    )
    end = time.time() + module.params["wait"]
    await_ready(module, end)
    changes = []
    for path in module.params["paths"]:
        changes += apply(module, path, end)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
