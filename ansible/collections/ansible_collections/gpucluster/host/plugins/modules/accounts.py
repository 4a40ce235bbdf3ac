#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: accounts
short_description: Make groups and users with fixed ids
description:
  - Makes the groups and users that are missing, and brings shell, home, primary
    group and membership of the listed groups to what is declared.
  - Ids never change. A name that exists with another id, or an id that belongs
    to another name, is a problem; all problems are reported and nothing is done.
  - Accounts that are not listed are left alone.
options:
  groups:
    description: List of groups, each with name and gid.
    type: list
    elements: dict
    default: []
  users:
    description:
      - List of users, each with name, uid and group, and if wanted groups, shell
        (default /bin/bash), home, comment and system.
    type: list
    elements: dict
    default: []
  manage:
    description: Whether to make what is missing. Otherwise it is a problem.
    type: bool
    default: true
  create_homes:
    description: Whether to make missing home folders, mode 0700, from /etc/skel.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Make people known
  gpucluster.host.accounts:
    groups:
      - {name: research, gid: 20001}
    users:
      - {name: alice, uid: 20001, group: research, home: /home/alice}
"""

RETURN = r"""
changes:
  description: What was made or changed.
  type: list
  elements: str
  returned: always
"""

import grp
import os
import pwd
import shutil

from ansible.module_utils.basic import AnsibleModule


def look_up(function, key):
    try:
        return function(key)
    except KeyError:
        return None


class Accounts:
    def __init__(self, module):
        self.module = module
        self.groups = module.params["groups"]
        self.users = module.params["users"]
        self.problems = []
        self.changes = []

    def check(self):
        manage = self.module.params["manage"]
        gids = {g["name"]: int(g["gid"]) for g in self.groups}
        for g in self.groups:
            self.identity("group", g["name"], int(g["gid"]), grp.getgrnam, grp.getgrgid, "gr_gid", "gr_name", manage)
        for u in self.users:
            self.identity("user", u["name"], int(u["uid"]), pwd.getpwnam, pwd.getpwuid, "pw_uid", "pw_name", manage)
            for name in [u["group"]] + list(u.get("groups") or []):
                if name not in gids and look_up(grp.getgrnam, name) is None:
                    self.problems.append("user %s: there is no group %s" % (u["name"], name))
            found = look_up(pwd.getpwnam, u["name"])
            if found is not None and not manage:
                want = gids.get(u["group"])
                if want is not None and found.pw_gid != want:
                    self.problems.append("user %s has primary group %d here, %d is declared" % (u["name"], found.pw_gid, want))

    def identity(self, kind, name, number, by_name, by_number, number_of, name_of, manage):
        found = look_up(by_name, name)
        if found is not None:
            if getattr(found, number_of) != number:
                self.problems.append("%s %s has id %d here, %d is declared" % (kind, name, getattr(found, number_of), number))
            return
        holder = look_up(by_number, number)
        if holder is not None:
            self.problems.append("id %d of %s %s belongs to %s here" % (number, kind, name, getattr(holder, name_of)))
        elif not manage:
            self.problems.append("%s %s is not known here" % (kind, name))

    def run(self, *words):
        if self.module.check_mode:
            return
        rc, out, err = self.module.run_command(list(words))
        if rc != 0:
            self.module.fail_json(msg="%s: %s" % (" ".join(words), (err or out).strip()), changes=self.changes, changed=bool(self.changes))

    def apply(self):
        for g in self.groups:
            if look_up(grp.getgrnam, g["name"]) is None:
                self.run("groupadd", "-g", str(g["gid"]), g["name"])
                self.changes.append("group %s" % g["name"])
        for u in self.users:
            self.user(u)
        if not self.module.check_mode or not self.changes:
            self.members()
        if self.module.params["create_homes"]:
            for u in self.users:
                self.home(u)

    def user(self, u):
        found = look_up(pwd.getpwnam, u["name"])
        if found is None:
            shell, home = u.get("shell") or "/bin/bash", u.get("home") or "/home/%s" % u["name"]
            words = ["useradd", "-M", "-N", "-u", str(u["uid"]), "-g", u["group"], "-s", shell, "-d", home, "-p", "*"]
            words += ["-c", u.get("comment") or ""]
            if u.get("system"):
                words.append("-r")
            self.run(*(words + [u["name"]]))
            self.changes.append("user %s" % u["name"])
            return
        words = []
        if u.get("shell") and found.pw_shell != u["shell"]:
            words += ["-s", u["shell"]]
        if u.get("home") and found.pw_dir != u["home"]:
            words += ["-d", u["home"]]
        group = look_up(grp.getgrnam, u["group"])
        if group is not None and found.pw_gid != group.gr_gid:
            words += ["-g", u["group"]]
        if words:
            self.run(*(["usermod"] + words + [u["name"]]))
            self.changes.append("user %s (%s)" % (u["name"], " ".join(words)))

    def members(self):
        """Membership of the listed groups is exactly what is declared."""
        ours = {u["name"] for u in self.users}
        for g in self.groups:
            found = look_up(grp.getgrnam, g["name"])
            present = set(found.gr_mem) if found else set()
            wanted = {u["name"] for u in self.users if g["name"] in (u.get("groups") or [])}
            for name in sorted(wanted - present):
                self.run("gpasswd", "-a", name, g["name"])
                self.changes.append("%s joins %s" % (name, g["name"]))
            for name in sorted((present & ours) - wanted):
                self.run("gpasswd", "-d", name, g["name"])
                self.changes.append("%s leaves %s" % (name, g["name"]))

    def home(self, u):
        home = u.get("home") or "/home/%s" % u["name"]
        if os.path.isdir(home):
            found = os.stat(home)
            if found.st_uid != int(u["uid"]):
                self.module.fail_json(
                    msg="%s belongs to id %d, not to %s (%s)" % (home, found.st_uid, u["name"], u["uid"]),
                    changed=bool(self.changes), changes=self.changes)
            return
        self.changes.append("home %s" % home)
        if self.module.check_mode:
            return
        uid, gid = int(u["uid"]), grp.getgrnam(u["group"]).gr_gid
        # The folder appears with its content and owner, or not at all.
        making = "%s/.gpucluster-%s" % (os.path.dirname(home), u["name"])
        shutil.rmtree(making, ignore_errors=True)
        if os.path.isdir("/etc/skel"):
            shutil.copytree("/etc/skel", making, symlinks=True)
        else:
            os.makedirs(making)
        for folder, folders, files in os.walk(making):
            for name in folders + files:
                os.lchown(os.path.join(folder, name), uid, gid)
        os.chown(making, uid, gid)
        os.chmod(making, 0o700)
        os.rename(making, home)


def main():
    module = AnsibleModule(
        argument_spec={
            "groups": {"type": "list", "elements": "dict", "default": []},
            "users": {"type": "list", "elements": "dict", "default": []},
            "manage": {"type": "bool", "default": True},
            "create_homes": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    accounts = Accounts(module)
    accounts.check()
    if accounts.problems:
        module.fail_json(msg="accounts differ: %s" % "; ".join(accounts.problems), problems=accounts.problems)
    if module.params["manage"]:
        accounts.apply()
    module.exit_json(changed=bool(accounts.changes), changes=accounts.changes)


if __name__ == "__main__":
    main()
