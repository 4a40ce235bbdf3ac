package slurmtest

import (
	"strings"
	"testing"
	"time"
)

const slurmdbdConf = `AuthType=auth/munge
DbdHost=ctl1
DbdAddr=127.0.0.1
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
LogFile=/var/log/slurmdbd.log
PidFile=/run/slurmdbd.pid
`

// StartAccounting starts MariaDB and slurmdbd. The test skips where they are
// not installed.
func (c *Cluster) StartAccounting(t testing.TB) {
	t.Helper()
	if got := c.Must(t, "command -v mariadbd; command -v slurmdbd; true"); strings.Count(got, "\n") < 2 {
		t.Skipf("skipped: no mariadbd or slurmdbd of Slurm %s", c.Release)
	}
	c.Must(t, `rm -rf /var/lib/mysql && install -d -o mysql -g mysql /var/lib/mysql /run/mysqld
mariadb-install-db --user=mysql --datadir=/var/lib/mysql --skip-test-db --auth-root-authentication-method=socket >/dev/null 2>&1
setsid mariadbd --user=mysql --skip-networking --innodb-flush-log-at-trx-commit=0 </dev/null >/var/log/mariadb-start.log 2>&1 &`)
	c.Until(t, 60*time.Second, "mariadb -e 'select 1'", func(string) bool { return true })
	c.Must(t, `mariadb -e "create database slurm_acct_db; create user slurm@localhost identified via unix_socket; grant all on slurm_acct_db.* to slurm@localhost"`)
	c.Write(t, "/etc/slurm/slurmdbd.conf", slurmdbdConf)
	c.Must(t, `chown slurm:slurm /etc/slurm/slurmdbd.conf && chmod 600 /etc/slurm/slurmdbd.conf
touch /var/log/slurmdbd.log /run/slurmdbd.pid && chown slurm /var/log/slurmdbd.log /run/slurmdbd.pid
setpriv --reuid slurm --regid slurm --init-groups slurmdbd </dev/null >/dev/null 2>&1`)
	// sacctmgr finds slurmdbd through slurm.conf.
	c.Write(t, "/etc/slurm/slurm.conf", baseConf+accountingConf)
	c.Until(t, 60*time.Second, "sacctmgr -nP show cluster", func(string) bool { return true })
}
