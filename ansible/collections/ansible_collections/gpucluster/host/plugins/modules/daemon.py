#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: daemon
short_description: Place a daemon's files and bring its units to a state
description:
  - First handles the units that are to be stopped, then places files as the
    place_files module does, then handles the other units. A daemon's whole state
    is thus one task.
  - Systemd is reloaded where unit files changed on disk. Each unit is then
    stopped, unmasked, disabled, enabled, masked, started or restarted.
  - A unit that is not installed counts as stopped, disabled and not masked.
options:
  unless_enabled:
    description: Units of which none may start with the host, else nothing is done. For what several roles of a host share.
    type: list
    elements: str
    default: []
  unless_exists:
    description: Paths of which none may exist, else nothing is done. For what a part of the host shares that has no unit.
    type: list
    elements: str
    default: []
  unless_theirs:
    description: Whether nothing is done where one of the files is somebody else's.
    type: bool
    default: false
extends_documentation_fragment:
  - gpucluster.host.files
  - gpucluster.host.units
"""

EXAMPLES = r"""
- name: Run munged
  gpucluster.host.daemon:
    files:
      - path: /etc/munge/munge.key
        secret_content: "{{ munge_key }}"
        encoding: base64
        mode: "0400"
        owner: munge
        group: munge
        recorded: true
    units:
      - name: munge.service
        enabled: true
        masked: false
        state: started
        restart_for: [/etc/munge/munge.key]
        check: munge -n | unmunge
"""

RETURN = r"""
changes:
  description: The paths that changed and what was done to which unit, in order.
  type: list
  elements: str
  returned: always
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.gpucluster.host.plugins.module_utils import files, systemd


def main():
    arguments = {
        "unless_enabled": {"type": "list", "elements": "str", "default": []},
        "unless_exists": {"type": "list", "elements": "str", "default": []},
        "unless_theirs": {"type": "bool", "default": False},
    }
    arguments.update(files.ARGUMENTS)
    arguments.update(systemd.ARGUMENTS)
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    if systemd.any_enabled(module, module.params["unless_enabled"]):
        module.exit_json(changed=False, changes=[])
    if any(os.path.lexists(path) for path in module.params["unless_exists"]):
        module.exit_json(changed=False, changes=[])
    if module.params["unless_theirs"] and files.theirs(module):
        module.exit_json(changed=False, changes=[])
    units = module.params["units"]
    changes = systemd.manage(module, [u for u in units if u["state"] == "stopped"])
    changes += files.place(module)
    changes += systemd.manage(module, [u for u in units if u["state"] != "stopped"])
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
