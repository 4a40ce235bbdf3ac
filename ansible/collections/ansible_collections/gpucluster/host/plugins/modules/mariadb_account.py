#!/usr/bin/python
# Apache-2.0, see LICENSE
from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
module: mariadb_account
short_description: Make a database and a user that owns it
description:
  - Speaks to the local MariaDB server as root through its socket.
  - Makes the database and the user where they are missing, sets the password
    where the user cannot log in with it, and grants all rights on the database.
  - Statements go over standard input; the password is in no command line.
options:
  database:
    description: Name of the database.
    type: str
    required: true
  user:
    description: Name of the user.
    type: str
    required: true
  host:
    description: Where the user may come from, in MariaDB's terms.
    type: str
    default: localhost
  password:
    description: The user's password.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Make the accounting database
  gpucluster.host.mariadb_account:
    database: slurm_acct_db
    user: slurm
    password: "{{ mariadb_password }}"
  no_log: true
"""

RETURN = r"""
changes:
  description: What was made or changed.
  type: list
  elements: str
  returned: always
"""

import os
import re
import tempfile

from ansible.module_utils.basic import AnsibleModule

NAME = re.compile(r"^[A-Za-z0-9_]{1,64}$")
HOST = re.compile(r"^[A-Za-z0-9_.%:-]{1,255}$")


def text(value):
    """A string literal of SQL."""
    return "'%s'" % value.replace("\\", "\\\\").replace("'", "''")


class Server:
    def __init__(self, module):
        self.module = module
        self.client = module.get_bin_path("mariadb") or module.get_bin_path("mysql", required=True)

    def query(self, sql):
        rc, out, err = self.module.run_command(
            [self.client, "--no-defaults", "--protocol=socket", "-u", "root", "-N", "-B"], data=sql)
        if rc != 0:
            self.module.fail_json(msg="MariaDB refused: %s" % err.strip())
        return out.split()

    def accepts(self, user, host, password):
        """Whether the user can log in with the password."""
        fd, path = tempfile.mkstemp(prefix="gpucluster-", dir="/run")
        try:
            with os.fdopen(fd, "w") as f:
                quoted = password.replace("\\", "\\\\").replace('"', '\\"')
                f.write('[client]\nuser=%s\npassword="%s"\n' % (user, quoted))
            rc, out, err = self.module.run_command(
                [self.client, "--defaults-file=" + path, "--protocol=socket", "-e", "SELECT 1"])
            return rc == 0
        finally:
            os.unlink(path)


def main():
    module = AnsibleModule(
        argument_spec={
            "database": {"type": "str", "required": True},
            "user": {"type": "str", "required": True},
            "host": {"type": "str", "default": "localhost"},
            "password": {"type": "str", "required": True, "no_log": True},
        },
        supports_check_mode=True,
    )
    database, user, host = module.params["database"], module.params["user"], module.params["host"]
    password = module.params["password"]
    for value, pattern in ((database, NAME), (user, NAME), (host, HOST)):
        if not pattern.match(value):
            module.fail_json(msg="%r is not a name that is taken here" % value)
    if not password or "\n" in password:
        module.fail_json(msg="the password is empty or has more than one line")

    server = Server(module)
    account = "%s@%s" % (text(user), text(host))
    todo = []
    if not server.query("SELECT 1 FROM information_schema.schemata WHERE schema_name=%s;" % text(database)):
        todo.append(("database %s" % database, "CREATE DATABASE `%s`;" % database))
    known = server.query("SELECT 1 FROM mysql.global_priv WHERE user=%s AND host=%s;" % (text(user), text(host)))
    if not known:
        todo.append(("user %s" % user, "CREATE USER %s IDENTIFIED BY %s;" % (account, text(password))))
    elif host == "localhost" and not server.accepts(user, host, password):
        todo.append(("password of %s" % user, "ALTER USER %s IDENTIFIED BY %s;" % (account, text(password))))
    granted = known and server.query(
        "SELECT 1 FROM information_schema.schema_privileges WHERE grantee=%s AND table_schema=%s AND privilege_type='DROP';"
        % (text("'%s'@'%s'" % (user, host)), text(database)))
    if not granted:
        todo.append(("rights of %s on %s" % (user, database), "GRANT ALL ON `%s`.* TO %s;" % (database, account)))

    if todo and not module.check_mode:
        server.query("\n".join(sql for ignored, sql in todo))
    module.exit_json(changed=bool(todo), changes=[what for what, ignored in todo])


if __name__ == "__main__":
    main()
