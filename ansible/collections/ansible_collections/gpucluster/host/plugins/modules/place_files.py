#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: place_files
short_description: Place a set of files and folders in one task
description:
  - Brings every path to its content, owner, group and mode.
  - A file is written next to its place, validated, and renamed over it.
  - A file that exists already and does not contain the marker belongs to
    somebody else. It is left alone and reported, unless the entry says
    otherwise.
  - Nothing is written when any entry has a problem; all problems are reported.
extends_documentation_fragment:
  - gpucluster.host.files
"""

EXAMPLES = r"""
- name: Place the unit's settings
  gpucluster.host.place_files:
    files:
      - path: /etc/systemd/system/munge.service.d/gpucluster.conf
        content: |
          # written by gpucluster
          [Service]
          Restart=always
"""

RETURN = r"""
changes:
  description: The paths that changed, sorted, each with what changed.
  type: list
  elements: str
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.gpucluster.host.plugins.module_utils import files


def main():
    module = AnsibleModule(argument_spec=files.ARGUMENTS, supports_check_mode=True)
    changes = files.place(module)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
