# Apache-2.0, see LICENSE
"""Systemd units: what several modules manage in the same way."""
from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import time

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
        why = ": %s" % said[-600:] if said else ""
        module.fail_json(msg="%s runs and does not serve after %d s%s%s" % (unit, wait, why, last_words(module, unit)))
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
        elif outdated(found, spec["restart_for"]) or not all(os.path.exists(path) for path in spec["restart_without"]):
            verbs.append("restart")
    return verbs


def reload(module, units):
    """Make systemd read unit files that changed on disk."""
    if any(show(module, u["name"]).get("NeedDaemonReload") == "yes" for u in units) and not module.check_mode:
        systemctl(module, "daemon-reload")


UNIT = {
    "name": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["started", "stopped"]},
    "enabled": {"type": "bool"},
    "masked": {"type": "bool"},
    "restart_for": {"type": "list", "elements": "str", "default": []},
    "restart_without": {"type": "list", "elements": "str", "default": []},
    "check": {"type": "str"},
}

# The arguments of every module that manages units.
ARGUMENTS = {
    "units": {"type": "list", "elements": "dict", "default": [], "options": UNIT},
    "wait": {"type": "int", "default": 60},
}


def any_enabled(module, units):
    """Whether one of the units starts with the host."""
    return any(show(module, unit).get("UnitFileState", "").startswith("enabled") for unit in units)


def manage(module, units):
    """Bring units to their state, in order, and say what was done."""
    changes = []
    reload(module, units)
    for spec in units:
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
    return changes
