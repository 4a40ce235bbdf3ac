#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: preflight
short_description: Compare a host with what was declared about it
description:
  - Looks at name, release, clock, processors, memory and accelerators, and fails
    with every mismatch at once. Changes nothing.
  - Reports what was found.
options:
  hostname:
    description: The short name that the host must have. Empty means unchecked.
    type: str
    default: ""
  distribution:
    description: The release it must run, as an identifier and a code name joined by a blank, for example "debian trixie".
    type: str
    default: ""
  hardware:
    description:
      - What the host was declared to have. Keys sockets, cores_per_socket,
        threads_per_core, memory_mib (as sold), usable_memory_mib (what must be
        there), and gpus, a list of type, count and first_device. What is left
        out is unchecked.
    type: dict
    default: {}
  time:
    description: Seconds since 1970 on the deployer. 0 means unchecked.
    type: int
    default: 0
  time_tolerance:
    description: How far the clocks may be apart, in seconds.
    type: int
    default: 120
  simulated:
    description:
      - A JSON file in which a simulated host states its hardware in place of
        what the kernel says, with the keys sockets, coresPerSocket,
        threadsPerCore and memoryMiB. Empty means that there is none.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Compare the host with its declaration
  gpucluster.host.preflight:
    hostname: gpu01
    hardware: {sockets: 2, gpus: [{type: h100, count: 8}]}
"""

RETURN = r"""
report:
  description: What was found, under the key host.
  type: dict
  returned: always
problems:
  description: Every mismatch.
  type: list
  elements: str
  returned: failure
"""

import glob
import json
import os
import platform
import re
import socket
import stat
import time

from ansible.module_utils.basic import AnsibleModule


# What a simulated host states, by this module's keys.
STATED = {
    "sockets": "sockets",
    "cores_per_socket": "coresPerSocket",
    "threads_per_core": "threadsPerCore",
    "memory_mib": "memoryMiB",
}

# What Debian has to keep the clock right.
TIMEKEEPERS = ["chrony.service", "ntpsec.service", "ntp.service", "openntpd.service", "systemd-timesyncd.service"]


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def release():
    values = dict(line.split("=", 1) for line in read("/etc/os-release").splitlines() if "=" in line)
    return " ".join(values.get(k, "").strip('"') for k in ("ID", "VERSION_CODENAME"))


def processors():
    """Sockets, cores of a socket and threads of a core, as sysfs has them."""
    seen = {}
    for path in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology"):
        package, core = read(path + "/physical_package_id").strip(), read(path + "/core_id").strip()
        if package and core:
            seen.setdefault(package, {}).setdefault(core, 0)
            seen[package][core] += 1
    if not seen:
        return {}
    cores = max(len(c) for c in seen.values())
    threads = max(n for c in seen.values() for n in c.values())
    return {"sockets": len(seen), "cores_per_socket": cores, "threads_per_core": threads}


def memory():
    m = re.search(r"^MemTotal:\s+(\d+) kB", read("/proc/meminfo"), re.M)
    return {"memory_mib": int(m.group(1)) // 1024} if m else {}


def devices():
    numbers = []
    for path in glob.glob("/dev/nvidia[0-9]*"):
        m = re.match(r"^/dev/nvidia(\d+)$", path)
        if m and stat.S_ISCHR(os.stat(path).st_mode):
            numbers.append(int(m.group(1)))
    return sorted(numbers)


def products(module):
    """Product names by device number, as the driver's own tool has them."""
    tool = module.get_bin_path("nvidia-smi")
    if not tool:
        return {}
    rc, out, err = module.run_command([tool, "--query-gpu=index,name", "--format=csv,noheader"])
    rows = [line.split(",", 1) for line in out.splitlines() if "," in line] if rc == 0 else []
    return {int(i): name.strip() for i, name in rows if i.strip().isdigit()}


def cgroup():
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return "v2"
    return "hybrid" if os.path.exists("/sys/fs/cgroup/unified") else "v1"


def container():
    """Whether this host shares its kernel, and so its clock, with others."""
    return bool(read("/run/systemd/container")) or os.path.exists("/.dockerenv")


def timekeeper(module):
    """The service that keeps the clock right, if one runs."""
    for unit in TIMEKEEPERS:
        rc, out, err = module.run_command(["systemctl", "is-active", "--quiet", unit])
        if rc == 0:
            return unit
    return ""


def found_on(module):
    found = {"hostname": socket.gethostname().split(".")[0], "distribution": release(), "kernel": platform.release(),
             "python": platform.python_version(), "cgroup": cgroup(), "container": container(), "timekeeper": timekeeper(module), "simulated": False}
    found.update(processors())
    found.update(memory())
    path = module.params["simulated"]
    if path and os.path.exists(path):
        stated = json.loads(read(path))
        found.update((key, stated[name]) for key, name in STATED.items() if name in stated)
        found["simulated"] = True
    numbers, names = devices(), products(module)
    found["gpus"] = [{"device": n, "product": names.get(i, "")} for i, n in enumerate(numbers)]
    return found


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def compare_gpus(declared, gpus):
    by_number = {g["device"]: g["product"] for g in gpus}
    wanted, problems, first = {}, [], 0
    for gpu in declared:
        first = first if gpu.get("first_device") is None else int(gpu["first_device"])
        for n in range(first, first + int(gpu["count"])):
            wanted[n] = gpu["type"]
        first += int(gpu["count"])
    for kind in dict.fromkeys(wanted.values()):
        numbers = [n for n in wanted if wanted[n] == kind]
        missing = [n for n in numbers if n not in by_number]
        if missing:
            problems.append("declared %d GPUs of type %s, found %d: no /dev/nvidia%s" % (
                len(numbers), kind, len(numbers) - len(missing), ", /dev/nvidia".join(map(str, missing))))
        other = sorted({by_number[n] for n in numbers if by_number.get(n) and plain(kind) not in plain(by_number[n])})
        if other:
            problems.append("declared GPUs of type %s, found %s" % (kind, ", ".join(other)))
    extra = sorted(n for n in by_number if n not in wanted)
    if extra:
        problems.append("found GPUs that are not declared: /dev/nvidia%s" % ", /dev/nvidia".join(map(str, extra)))
    return problems


def compare_hardware(declared, found):
    problems = []
    for key, title in (("sockets", "sockets"), ("cores_per_socket", "cores per socket"), ("threads_per_core", "threads per core")):
        if declared.get(key) and key in found and int(declared[key]) != int(found[key]):
            problems.append("declared %s %s, found %s" % (declared[key], title, found[key]))
    have, sold, usable = found.get("memory_mib"), declared.get("memory_mib"), declared.get("usable_memory_mib")
    if have and usable and int(have) < int(usable):
        problems.append("declared %s MiB of usable memory, found %s MiB" % (usable, have))
    elif have and sold and int(have) > int(sold):
        problems.append("declared %s MiB of memory, found %s MiB" % (sold, have))
    if declared.get("gpus") is not None:
        problems += compare_gpus(declared["gpus"], found["gpus"])
    return problems


def compare(params, found, now):
    problems = []
    for key, title in (("hostname", "the name"), ("distribution", "the release")):
        if params[key] and params[key] != found[key]:
            problems.append("declared %s %s, found %s" % (title, params[key], found[key]))
    if params["time"]:
        apart = int(now) - params["time"]
        if abs(apart) > params["time_tolerance"]:
            problems.append("the clock is %d s %s the deployer's" % (abs(apart), "ahead of" if apart > 0 else "behind"))
    return problems + compare_hardware(params["hardware"], found)


def main():
    module = AnsibleModule(
        argument_spec={
            "hostname": {"type": "str", "default": ""},
            "distribution": {"type": "str", "default": ""},
            "hardware": {"type": "dict", "default": {}},
            "time": {"type": "int", "default": 0},
            "time_tolerance": {"type": "int", "default": 120},
            "simulated": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    found = found_on(module)
    problems = compare(module.params, found, time.time())
    report = {"host": found}
    if problems:
        module.fail_json(msg="; ".join(problems), problems=problems, report=report)
    module.exit_json(changed=False, report=report)


if __name__ == "__main__":
    main()
