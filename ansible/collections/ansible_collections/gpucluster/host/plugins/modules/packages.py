#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: packages
short_description: Make sure of Debian packages, without starting what they bring
description:
  - Asks dpkg first, so that nothing is fetched when every package is there.
  - What is missing is installed by apt-get with recommendations left out;
    daemons that come with it are not started, and no package is removed for it:
    what would be removed is the site's. Files (apt's sources and pins) are
    placed first, and only if something is missing.
  - A package that is there in another release line than the one asked for is a
    problem, since only a person decides about an upgrade.
options:
  names:
    description: Packages that must be installed.
    type: list
    elements: str
    required: true
  versions:
    description: Maps a package to how its version must begin, for example 24.11.
    type: dict
    default: {}
  target_release:
    description: The release to install from (apt-get -t). Empty means the default.
    type: str
    default: ""
  discard:
    description:
      - Files that packages make for themselves when they are installed, such as
        keys. Those that were not there before are removed after the
        installation; the others are left alone.
    type: list
    elements: str
    default: []
  refresh_age:
    description: Age in seconds after which the package lists are fetched anew.
    type: int
    default: 3600
extends_documentation_fragment:
  - gpucluster.host.files
"""

EXAMPLES = r"""
- name: Install the node daemon
  gpucluster.host.packages:
    names: [slurmd, munge]
    versions: {slurmd: "24.11"}
"""

RETURN = r"""
changes:
  description: The packages that were installed, with their versions.
  type: list
  elements: str
  returned: always
"""

import glob
import os
import re
import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.gpucluster.host.plugins.module_utils import files

POLICY = "/usr/sbin/policy-rc.d"
POLICY_MARK = "# written by gpucluster, for as long as it installs packages"
# Stands in that file before a path that was not there when it was written.
POLICY_ABSENT = "# absent: "
# Stands in a file for the mirror that the host itself uses.
HOST_MIRROR = "@HOST_MIRROR@"


def installed(module, names):
    """Versions of those packages that are installed completely."""
    form = "${binary:Package} ${db:Status-Abbrev} ${Version}\n"
    rc, out, err = module.run_command(["dpkg-query", "-W", "-f", form] + names)
    found = {}
    for line in out.splitlines():
        words = line.split()
        if len(words) == 3 and words[1].startswith(("ii", "hi")):
            found[words[0].split(":")[0]] = words[2]
    return found


def upstream(version):
    """The version without Debian's epoch."""
    return version.split(":", 1)[-1]


def wrong(found, versions):
    return [
        "package %s is %s here, %s is asked for" % (name, upstream(found[name]), wanted)
        for name, wanted in sorted(versions.items())
        if name in found and not (upstream(found[name]) + ".").startswith(str(wanted).rstrip(".") + ".")
    ]


def lists_age():
    try:
        return time.time() - max(os.stat("/var/lib/apt/lists/" + n).st_mtime for n in os.listdir("/var/lib/apt/lists") if "_dists_" in n)
    except (OSError, ValueError):
        return float("inf")


class Quiet:
    """While this lasts, packages do not start their daemons. At its end, files
    that they made for themselves go. What an installation that was cut off (by
    a reset of the host, say) has left is taken over."""

    def __init__(self, discard):
        self.discard = [path for path in discard if not os.path.exists(path)]
        self.theirs = self.left = False

    def __enter__(self):
        try:
            with open(POLICY) as f:
                lines = f.read().splitlines()
            self.left = POLICY_MARK in lines
            self.theirs = not self.left
            self.discard += [t[len(POLICY_ABSENT):] for t in lines if self.left and t.startswith(POLICY_ABSENT)]
        except FileNotFoundError:
            pass
        if not self.theirs:
            lines = ["#!/bin/sh", POLICY_MARK] + [POLICY_ABSENT + path for path in sorted(set(self.discard))] + ["exit 101"]
            files.write(POLICY, ("\n".join(lines) + "\n").encode(), 0, 0, 0o755)
        return self

    def __exit__(self, *ignored):
        for path in self.discard:
            if os.path.exists(path):
                os.unlink(path)
        if not self.theirs and os.path.exists(POLICY):
            os.unlink(POLICY)


ENVIRONMENT = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1", "LC_ALL": "C.UTF-8"}


def apt(module, *words):
    common = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3",
              "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"]
    return module.run_command(common + list(words), environ_update=ENVIRONMENT)


def host_mirror():
    """The first Debian mirror in the host's own sources, in either format."""
    for path in ["/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*")):
        try:
            with open(path) as f:
                text = f.read()
        except OSError:
            continue
        found = re.search(r"^(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(\S+/debian)/?(?:\s|$)", text, re.M)
        if found:
            return found.group(1)
    return ""


def name_mirror(module):
    """Puts the host's own mirror into files that ask for it."""
    for entry in module.params["files"]:
        if HOST_MIRROR not in (entry.get("content") or ""):
            continue
        mirror = host_mirror()
        if not mirror:
            module.fail_json(msg="the host's apt sources name no Debian mirror: set slurm_packages_mirror")
        entry["content"] = entry["content"].replace(HOST_MIRROR, mirror)


def install(module, missing):
    name_mirror(module)
    if files.place(module) or lists_age() > module.params["refresh_age"]:
        rc, out, err = apt(module, "update")
        if rc != 0:
            module.fail_json(msg="apt-get update: %s" % (err or out).strip()[-600:])
    words = ["install", "--no-install-recommends", "--no-remove"]
    if module.params["target_release"]:
        words += ["-t", module.params["target_release"]]
    with Quiet(module.params["discard"]) as quiet:
        if quiet.left:
            # apt-get refuses to go on where dpkg was interrupted.
            module.run_command(["dpkg", "--configure", "-a", "--force-confdef", "--force-confold"], environ_update=ENVIRONMENT)
        rc, out, err = apt(module, *(words + missing))
    if rc != 0:
        removed = re.search(r"^The following packages will be REMOVED:\n((?: +\S.*\n)+)", out, re.M)
        if removed:
            module.fail_json(msg="apt-get would remove %s to install %s; remove that by hand if nothing needs it" % (
                " ".join(removed.group(1).split()), " ".join(missing)))
        module.fail_json(msg="apt-get install %s: %s" % (" ".join(missing), (err or out).strip()[-600:]))


def main():
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "required": True},
            "versions": {"type": "dict", "default": {}},
            "target_release": {"type": "str", "default": ""},
            "discard": {"type": "list", "elements": "str", "default": []},
            "refresh_age": {"type": "int", "default": 3600},
            **files.ARGUMENTS
        },
        supports_check_mode=True,
    )
    names, versions = module.params["names"], module.params["versions"]
    found = installed(module, sorted(set(names) | set(versions)))
    problems = wrong(found, versions)
    if problems:
        module.fail_json(msg="; ".join(problems), problems=problems)
    missing = sorted(n for n in set(names) if n not in found)
    if not missing:
        module.exit_json(changed=False, changes=[])
    if module.check_mode:
        module.exit_json(changed=True, changes=missing)

    install(module, missing)
    found = installed(module, sorted(set(names) | set(versions)))
    problems = wrong(found, versions) + ["package %s is still missing" % n for n in missing if n not in found]
    if problems:
        module.fail_json(msg="; ".join(problems), problems=problems, changed=True)
    module.exit_json(changed=True, changes=["%s %s" % (n, upstream(found[n])) for n in missing])


if __name__ == "__main__":
    main()
