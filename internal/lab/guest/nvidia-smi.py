#!/usr/bin/python3
"""Stand-in for nvidia-smi on a lab host: reports the simulated GPUs of gpus.json.

Like the real one it shows only GPUs whose device the caller may open, so that a job that
is confined to two GPUs sees two, numbered from 0.
"""
import errno
import json
import os
import sys

PROFILE = "/etc/gpucluster-lab/gpus.json"
NOTE = "nvidia-smi: these GPUs are simulated by a gpucluster lab"

# Each field of --query-gpu: how to get it from a GPU, and its unit.
FIELDS = {
    "index": (lambda g, n: g["index"], ""),
    "count": (lambda g, n: n, ""),
    "name": (lambda g, n: g["name"], ""),
    "gpu_name": (lambda g, n: g["name"], ""),
    "uuid": (lambda g, n: g["uuid"], ""),
    "gpu_uuid": (lambda g, n: g["uuid"], ""),
    "pci.bus_id": (lambda g, n: g["busId"], ""),
    "driver_version": (lambda g, n: g["driver"], ""),
    "memory.total": (lambda g, n: g["memoryMiB"], "MiB"),
    "memory.used": (lambda g, n: 0, "MiB"),
    "memory.free": (lambda g, n: g["memoryMiB"], "MiB"),
    "utilization.gpu": (lambda g, n: 0, "%"),
    "temperature.gpu": (lambda g, n: 30, ""),
    "mig.mode.current": (lambda g, n: "Disabled", ""),
    "compute_mode": (lambda g, n: "Default", ""),
}


def fail(message, code):
    print(message)
    sys.exit(code)


def allowed(device):
    """Tell whether this process may open a device. Nothing is behind it, so an open that
    the cgroup allows ends with ENXIO or ENODEV."""
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError as e:
        return e.errno in (errno.ENXIO, errno.ENODEV)
    return True


def visible():
    try:
        with open(PROFILE, encoding="utf-8") as f:
            gpus = json.load(f)["gpus"]
    except OSError as e:
        fail(f"NVIDIA-SMI has failed because it couldn't read {PROFILE}: {e.strerror}", 9)
    # The driver's library numbers what it may open, not what there is.
    return [g | {"index": i} for i, g in enumerate(g for g in gpus if allowed(g["device"]))]


def select(gpus, wanted):
    if wanted is None:
        return gpus
    found = []
    for w in wanted.split(","):
        match = [g for g in gpus if w in (str(g["index"]), g["uuid"], g["busId"])]
        if not match:
            fail("No devices were found", 6)
        found += match
    return found


def query(gpus, names, form):
    words = form.split(",")
    if words[0] != "csv" or set(words[1:]) - {"noheader", "nounits"}:
        fail(f'"{form}" is not a format of this stand-in; it knows csv[,noheader][,nounits]', 2)
    for n in names:
        if n not in FIELDS:
            fail(f'Field "{n}" is not a valid field to query.', 2)
    units = "nounits" not in words
    if "noheader" not in words:
        print(", ".join(n + (f" [{FIELDS[n][1]}]" if FIELDS[n][1] else "") for n in names))
    for g in gpus:
        cells = []
        for n in names:
            get, unit = FIELDS[n]
            cells.append(str(get(g, len(gpus))) + (" " + unit if unit and units else ""))
        print(", ".join(cells))


def table(gpus):
    print("Simulated GPUs of a gpucluster lab")
    print(f"Driver Version: {gpus[0]['driver']}")
    for g in gpus:
        print(f"{g['index']:>3}  {g['name']:<32} {g['busId']}  0MiB / {g['memoryMiB']}MiB")


def main(args):
    chosen, names, form, list_only = None, None, None, False
    i = 0
    while i < len(args):
        key, has_value, value = args[i].partition("=")
        if key in ("-i", "--id", "--query-gpu", "--format") and not has_value:
            i += 1
            value = args[i] if i < len(args) else ""
        if key in ("-i", "--id"):
            chosen = value
        elif key == "--query-gpu":
            names = [n.strip() for n in value.split(",")]
        elif key == "--format":
            form = value
        elif key in ("-L", "--list-gpus"):
            list_only = True
        else:
            fail(f"Invalid combination of input arguments: this stand-in has no {key}", 2)
        i += 1
    print(NOTE, file=sys.stderr)
    gpus = select(visible(), chosen)
    if not gpus:
        fail("No devices were found", 6)
    if list_only:
        for g in gpus:
            print(f"GPU {g['index']}: {g['name']} (UUID: {g['uuid']})")
    elif names is not None:
        query(gpus, names, form or "")
    else:
        table(gpus)


if __name__ == "__main__":
    main(sys.argv[1:])
