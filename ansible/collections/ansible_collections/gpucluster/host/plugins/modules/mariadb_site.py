#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: mariadb_site
short_description: Refuse a MariaDB server that is the site's
description:
  - Fails where MariaDB on this host holds databases other than the given one, or
    is configured by files that neither its packages nor the toolkit brought.
  - Looks at files alone; the server need not run, nor be there. Changes nothing.
  - Once the toolkit's settings are in place the server is the toolkit's, whatever
    else it holds.
options:
  database:
    description: The database that may be there already.
    type: str
    required: true
  settings:
    description: The file with the toolkit's settings.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Leave the site's database server alone
  gpucluster.host.mariadb_site:
    database: slurm_acct_db
    settings: /etc/mysql/mariadb.conf.d/60-gpucluster.cnf
"""

RETURN = r"""
msg:
  description: What is the site's, and what to do.
  type: str
  returned: failure
"""

import glob
import os

from ansible.module_utils.basic import AnsibleModule

DATA = "/var/lib/mysql"
FOLDERS = ["/etc/mysql/conf.d", "/etc/mysql/mariadb.conf.d"]
# What a new server has.
OWN = {"mysql", "performance_schema", "sys", "test"}


def databases(known):
    names = os.listdir(DATA) if os.path.isdir(DATA) else []
    return sorted(n for n in names if os.path.isdir(os.path.join(DATA, n)) and n[0] not in ".#" and n != "lost+found" and n not in known)


def configuration(module):
    """Files that no package brought, or that are not as their package has them."""
    found = sorted(path for folder in FOLDERS for path in glob.glob(folder + "/*.cnf"))
    packages, changed = set(), []
    for path in found:
        rc, out, err = module.run_command(["dpkg-query", "-S", path])
        if rc != 0:
            changed.append(path)
        packages.update(line.split(":")[0] for line in out.splitlines())
    if packages:
        rc, out, err = module.run_command(["dpkg", "--verify"] + sorted(packages))
        lines = [line.split() for line in out.splitlines()]
        changed += [words[-1] for words in lines if words and words[0][2:3] == "5" and words[-1] in found]
    return sorted(changed)


def main():
    module = AnsibleModule(
        argument_spec={"database": {"type": "str", "required": True}, "settings": {"type": "str", "required": True}},
        supports_check_mode=True,
    )
    if os.path.exists(module.params["settings"]):
        module.exit_json(changed=False)
    problems = []
    foreign = databases(OWN | {module.params["database"]})
    if foreign:
        problems.append("it holds the databases %s" % ", ".join(foreign))
    changed = configuration(module)
    if changed:
        problems.append("it is configured by %s" % ", ".join(changed))
    if problems:
        module.fail_json(
            msg="MariaDB on this host is the site's: %s; have slurmdbd use it as it is with slurm.database.mariadb, or give the role database to another host"
            % " and ".join(problems))
    module.exit_json(changed=False)


if __name__ == "__main__":
    main()
