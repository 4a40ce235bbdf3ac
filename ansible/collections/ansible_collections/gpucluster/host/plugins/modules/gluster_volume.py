#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: gluster_volume
short_description: Serve a folder of this host as a GlusterFS volume
description:
  - Makes a volume of one brick on this host, sets its options and starts it.
  - A volume of that name with another brick is a problem and is left alone.
options:
  name:
    description: Name of the volume.
    type: str
    required: true
  brick:
    description: The brick as host:/folder. The folder exists already.
    type: str
    required: true
  options:
    description: Volume options to set.
    type: dict
    default: {}
  state:
    description: Whether the volume is served. An absent volume's folder is kept.
    type: str
    choices: [started, absent]
    default: started
"""

EXAMPLES = r"""
- name: Serve the home directories
  gpucluster.host.gluster_volume:
    name: home
    brick: ctl1:/srv/gpucluster/home
"""

RETURN = r"""
changes:
  description: What was made or changed.
  type: list
  elements: str
  returned: always
"""

import time
import xml.etree.ElementTree as tree

from ansible.module_utils.basic import AnsibleModule


def gluster(module, *words):
    rc, out, err = module.run_command(["gluster", "--mode=script"] + list(words))
    if rc != 0:
        module.fail_json(msg="gluster %s: %s" % (" ".join(words), (err or out).strip()))
    return out


def find(module, name):
    """What the server says of the volume, or None. The daemon takes a moment
    after its start before it answers."""
    for attempt in range(40):
        rc, out, err = module.run_command(["gluster", "--mode=script", "--xml", "volume", "info"])
        if rc == 0 and out.strip().startswith("<?xml"):
            break
        time.sleep(0.5)
    else:
        module.fail_json(msg="glusterd gives no answer: %s" % (err or out).strip())
    for volume in tree.fromstring(out).iter("volume"):
        if volume.findtext("name") == name:
            return {
                "status": volume.findtext("statusStr"),
                "bricks": [b.findtext("name") for b in volume.iter("brick") if b.findtext("name")],
                "options": {o.findtext("name"): o.findtext("value") for o in volume.iter("option")},
            }
    return None


def main():
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "brick": {"type": "str", "required": True},
            "options": {"type": "dict", "default": {}},
            "state": {"type": "str", "choices": ["started", "absent"], "default": "started"},
        },
        supports_check_mode=True,
    )
    name, brick = module.params["name"], module.params["brick"]
    changes = []

    def do(what, *words):
        changes.append(what)
        if not module.check_mode:
            gluster(module, *words)

    found = find(module, name)
    if found is not None and found["bricks"] != [brick]:
        module.fail_json(msg="volume %s exists here with other bricks: %s" % (name, ", ".join(found["bricks"])))
    if module.params["state"] == "absent":
        if found is not None:
            if found["status"] == "Started":
                do("volume %s stopped" % name, "volume", "stop", name, "force")
            do("volume %s deleted" % name, "volume", "delete", name)
        module.exit_json(changed=bool(changes), changes=changes)

    if found is None:
        do("volume %s" % name, "volume", "create", name, "transport", "tcp", brick, "force")
        found = {"status": "Created", "options": {}}
    for option, value in sorted(module.params["options"].items()):
        if found["options"].get(option) != str(value):
            do("option %s" % option, "volume", "set", name, option, str(value))
    if found["status"] != "Started":
        do("volume %s started" % name, "volume", "start", name)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
