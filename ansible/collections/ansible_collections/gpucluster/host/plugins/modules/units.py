#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: units
short_description: Bring systemd units to a state in one task
description:
  - Reloads systemd where a unit file changed on disk, then masks, unmasks,
    enables, disables, stops, starts or restarts each unit.
  - A unit that is not installed counts as stopped, disabled and not masked.
options:
  units:
    description: The units, in the order in which they are handled.
    type: list
    elements: dict
    required: true
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
      check:
        description: A shell command that succeeds once the unit serves.
        type: str
  wait:
    description: How long a unit may take to become active and serve, in seconds.
    type: int
    default: 60
"""

EXAMPLES = r"""
- name: Start the daemon
  gpucluster.host.units:
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
  description: What was done to which unit, in order.
  type: list
  elements: str
  returned: always
"""

import os
import time

from ansible.module_utils.basic import AnsibleModule

PROPERTIES = "LoadState,ActiveState,UnitFileState,NeedDaemonReload,ActiveEnterTimestampMonotonic"


def show(module, unit):
    rc, out, err = module.run_command(["systemctl", "show", "--property", PROPERTIES, unit])
    if rc != 0:
        module.fail_json(msg="%s: systemd gives no answer: %s" % (unit, err.strip()))
    return dict(line.split("=", 1) for line in out.splitlines() if "=" in line)


def systemctl(module, *words):
    rc, out, err = module.run_command(["systemctl"] + list(words))
    if rc != 0:
        module.fail_json(msg="systemctl %s: %s%s" % (" ".join(words), err.strip(), last_words(module, words[-1])))


def await_serving(module, spec, wait):
    """Wait until a unit is up and its check succeeds. A daemon that failed its
    first start is started again by systemd itself."""
    unit, said = spec["name"], ""
    end = time.time() + wait
    while True:
        state = show(module, unit).get("ActiveState")
        if state == "active":
            if not spec["check"]:
                return
            rc, out, err = module.run_command(spec["check"], use_unsafe_shell=True)
            if rc == 0:
                return
            said = (err or out).strip()
        if time.time() >= end:
            break
        time.sleep(0.2)
    if state == "active":
        module.fail_json(msg="%s runs and does not serve after %d s: %s" % (unit, wait, said[-600:]))
    module.fail_json(msg="%s is %s after %d s%s" % (unit, state, wait, last_words(module, unit)))


def last_words(module, unit):
    rc, log, err = module.run_command(["journalctl", "-u", unit, "-n", "8", "-o", "cat", "--no-pager"])
    lines = [t.strip() for t in log.splitlines() if t.strip()]
    return "; it said last: %s" % "; ".join(lines[-4:]) if lines else ""


def outdated(found, files):
    """Whether one of the files changed since the unit came up."""
    up = int(found.get("ActiveEnterTimestampMonotonic") or 0) / 1e6
    since = time.time() - (time.clock_gettime(time.CLOCK_MONOTONIC) - up)
    for path in files:
        try:
            found = os.stat(path)
        except FileNotFoundError:
            continue
        if max(found.st_mtime, found.st_ctime) > since:
            return True
    return False


def plan(spec, found):
    """The systemctl verbs that bring a unit from found to spec."""
    state = found.get("ActiveState")
    masked = found.get("LoadState") == "masked" or found.get("UnitFileState", "").startswith("masked")
    enabled = found.get("UnitFileState", "").startswith("enabled")
    verbs = []
    if spec["state"] == "stopped" and state in ("active", "activating", "reloading"):
        verbs.append("stop")
    if spec["masked"] is False and masked:
        verbs.append("unmask")
    if spec["enabled"] is False and enabled:
        verbs.append("disable")
    if spec["enabled"] is True and not enabled:
        verbs.append("enable")
    if spec["masked"] is True and not masked:
        verbs.append("mask")
    if spec["state"] == "started":
        if state != "active":
            verbs.append("start")
        elif outdated(found, spec["restart_for"]):
            verbs.append("restart")
    return verbs


def reload(module, units):
    """Make systemd read unit files that changed on disk."""
    if any(show(module, u["name"]).get("NeedDaemonReload") == "yes" for u in units) and not module.check_mode:
        systemctl(module, "daemon-reload")


def main():
    unit_spec = {
        "name": {"type": "str", "required": True},
        "state": {"type": "str", "choices": ["started", "stopped"]},
        "enabled": {"type": "bool"},
        "masked": {"type": "bool"},
        "restart_for": {"type": "list", "elements": "str", "default": []},
        "check": {"type": "str"},
    }
    module = AnsibleModule(
        argument_spec={
            "units": {"type": "list", "elements": "dict", "required": True, "options": unit_spec},
            "wait": {"type": "int", "default": 60},
        },
        supports_check_mode=True,
    )
    changes = []
    reload(module, module.params["units"])
    for spec in module.params["units"]:
        unit = spec["name"]
        verbs = plan(spec, show(module, unit))
        if not module.check_mode:
            for verb in verbs:
                if verb in ("start", "restart"):
                    # Earlier failures are not held against this start.
                    module.run_command(["systemctl", "reset-failed", unit])
                systemctl(module, verb, unit)
            if spec["state"] == "started":
                await_serving(module, spec, module.params["wait"])
        changes.extend("%s %s" % (verb, unit) for verb in verbs)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
