#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: daemon
short_description: Place a daemon's files and bring its units to a state
description:
  - First places files as the place_files module does, then handles units. A
    daemon's whole state is thus one task.
  - Systemd is reloaded where unit files changed on disk. Each unit is then
    stopped, unmasked, disabled, enabled, masked, started or restarted.
  - A unit that is not installed counts as stopped, disabled and not masked.
  - With state stopped, units are handled before the files.
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
        foreign: replace
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

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.gpucluster.host.plugins.module_utils import files, systemd


def main():
    module = AnsibleModule(argument_spec=dict(files.ARGUMENTS, **systemd.ARGUMENTS), supports_check_mode=True)
    steps = [files.place, systemd.manage]
    if any(unit["state"] == "stopped" for unit in module.params["units"]):
        steps.reverse()
    changes = []
    for step in steps:
        changes += step(module)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
