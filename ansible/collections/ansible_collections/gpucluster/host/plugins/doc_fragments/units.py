# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type


class ModuleDocFragment(object):
    """The options of modules that manage systemd units."""

    DOCUMENTATION = r"""
options:
  units:
    description: The units, in the order in which they are handled.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the unit, with its suffix.
        type: str
        required: true
      state:
        description: Whether the unit runs. Left out means untouched.
        type: str
        choices: [started, stopped]
      enabled:
        description: Whether it starts with the host. Left out means untouched.
        type: bool
      masked:
        description: Whether nothing can start it. Left out means untouched.
        type: bool
      restart_for:
        description:
          - Files whose change needs a restart. A unit that runs since before the
            last change of one of them is restarted, also when an earlier run was
            cut off between placing the file and restarting.
        type: list
        elements: str
        default: []
      restart_without:
        description: Files that the unit makes. One that runs and has lost one of them is restarted.
        type: list
        elements: str
        default: []
      check:
        description: A shell command that succeeds once the unit serves.
        type: str
  wait:
    description: How long a unit may take to become active and serve, in seconds.
    type: int
    default: 60
"""
