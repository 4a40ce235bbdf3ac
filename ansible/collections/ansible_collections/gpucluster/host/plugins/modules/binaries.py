#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: binaries
short_description: Have programs from a folder of a web server
description:
  - The folder holds the programs and a file SHA256SUMS, as sha256sum writes it.
    What is placed has the digest that stands there; programs of one digest are
    fetched once.
  - What was placed is written down below /var/lib/gpucluster. As long as the
    programs are what they were and come from the same folder, the server is not
    asked.
options:
  url:
    description: Address of the folder. Needed to have the programs.
    type: str
    default: ""
  names:
    description: The programs.
    type: list
    elements: str
    required: true
  into:
    description: Folder of the host.
    type: str
    default: /usr/local/bin
  state:
    description: Whether they are there. Only what was placed by this module is removed.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: Have the programs
  gpucluster.host.binaries:
    url: http://artifacts:5000/binaries/v1.36.3
    names: [kubelet, kubeadm]
"""

RETURN = r"""
changes:
  description: The programs that were placed or removed.
  type: list
  elements: str
  returned: always
"""

import hashlib
import json
import os
import tempfile

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url
from ansible_collections.gpucluster.host.plugins.module_utils import files

RECORDS = "/var/lib/gpucluster/binaries"


def digest_of(path):
    """The digest of a file, or nothing where there is none."""
    try:
        with open(path, "rb") as f:
            found = hashlib.sha256()
            for part in iter(lambda: f.read(1 << 20), b""):
                found.update(part)
            return found.hexdigest()
    except FileNotFoundError:
        return ""


class Record:
    """What was placed in a folder of the host, by name: the address it came from, and its digest."""

    def __init__(self, into):
        self.path = os.path.join(RECORDS, into.strip("/").replace("/", "-") + ".json")
        try:
            with open(self.path) as f:
                self.placed = json.load(f)
        except (FileNotFoundError, ValueError):
            self.placed = {}

    def write(self):
        if not self.placed:
            if os.path.exists(self.path):
                os.unlink(self.path)
                if not os.listdir(RECORDS):
                    os.rmdir(RECORDS)
            return
        files.write(self.path, json.dumps(self.placed, indent=1, sort_keys=True).encode(), 0, 0, 0o644)


def listed(module, url):
    """The digests that the server states, by name."""
    try:
        text = open_url(url + "/SHA256SUMS", timeout=30).read().decode()
    except Exception as e:
        module.fail_json(msg="%s/SHA256SUMS cannot be read: %s" % (url, e))
    sums = {}
    for line in text.splitlines():
        words = line.split(None, 1)
        if len(words) == 2 and len(words[0]) == 64:
            sums[words[1].lstrip("*").strip()] = words[0].lower()
    return sums


def fetch(module, url, wanted, into):
    """Fetch one program next to its place, and return where it is."""
    fd, temporary = tempfile.mkstemp(prefix=".gpucluster-", dir=into)
    try:
        found = hashlib.sha256()
        with os.fdopen(fd, "wb") as f:
            answer = open_url(url, timeout=60)
            for part in iter(lambda: answer.read(1 << 20), b""):
                found.update(part)
                f.write(part)
            f.flush()
            os.fsync(f.fileno())
        if found.hexdigest() != wanted:
            raise ValueError("it has the digest %s, not %s as SHA256SUMS says" % (found.hexdigest(), wanted))
        os.chmod(temporary, 0o755)
        return temporary
    except Exception as e:
        os.unlink(temporary)
        module.fail_json(msg="%s cannot be had: %s" % (url, e))


def place(module, record):
    url, into = module.params["url"].rstrip("/"), module.params["into"]
    names = sorted(set(module.params["names"]))
    have = {n: digest_of(os.path.join(into, n)) for n in names}
    if all(record.placed.get(n) == {"url": url, "digest": have[n]} for n in names):
        return []
    sums = listed(module, url)
    problems = ["%s/SHA256SUMS does not list %s" % (url, n) for n in names if n not in sums]
    for n in names:
        if have[n] and n not in record.placed and have[n] != sums.get(n):
            problems.append("%s exists and is not ours; remove it, or the package that it belongs to" % os.path.join(into, n))
    if problems:
        module.fail_json(msg="; ".join(problems), problems=problems)
    changes = [os.path.join(into, n) for n in names if have[n] != sums[n]]
    if module.check_mode:
        return changes
    os.makedirs(into, exist_ok=True)
    fetched = {}
    try:
        for n in names:
            at = os.path.join(into, n)
            if have[n] != sums[n]:
                if sums[n] not in fetched:
                    fetched[sums[n]] = fetch(module, url + "/" + n, sums[n], into)
                # A program that runs keeps its file; the name gets the new one.
                link = fetched[sums[n]] + "-link"
                os.link(fetched[sums[n]], link)
                os.rename(link, at)
            record.placed[n] = {"url": url, "digest": sums[n]}
            record.write()
    finally:
        for temporary in fetched.values():
            os.unlink(temporary)
    return changes


def remove(module, record):
    changes = []
    for n in sorted(set(module.params["names"])):
        at = os.path.join(module.params["into"], n)
        if n not in record.placed:
            continue
        if digest_of(at) == record.placed[n]["digest"]:
            changes.append("%s (removed)" % at)
            if not module.check_mode:
                os.unlink(at)
        if not module.check_mode:
            del record.placed[n]
            record.write()
    return changes


def main():
    module = AnsibleModule(
        argument_spec={
            "url": {"type": "str", "default": ""},
            "names": {"type": "list", "elements": "str", "required": True},
            "into": {"type": "str", "default": "/usr/local/bin"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        required_if=[("state", "present", ("url",))],
        supports_check_mode=True,
    )
    record = Record(module.params["into"])
    changes = place(module, record) if module.params["state"] == "present" else remove(module, record)
    module.exit_json(changed=bool(changes), changes=changes)


if __name__ == "__main__":
    main()
