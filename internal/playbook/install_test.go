package playbook_test

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
)

// A host that has nothing of Slurm gets the packages of a release line that its
// own Debian does not have, and no daemon starts by itself meanwhile.
func TestPackagesOfAnotherDebian(t *testing.T) {
	w := newWorldOf(t, lab.ImageSpec{Release: "trixie"}, "plain")
	w.release = "26.05"
	w.want("ctl1", "dpkg-query -W -f '${Package} ' 'slurm*' 2>/dev/null; getent passwd slurm; true", "")
	probe := "apt-get update -qq 2>&1 | tail -1; apt-get install -s -qq munge >/dev/null 2>&1 && echo reached"
	if got := w.on("ctl1", probe); !strings.HasSuffix(got, "reached") {
		t.Skipf("needs Debian's packages: %s", got)
	}
	mirror := w.on("ctl1", "awk '$1==\"deb\"{print $2; exit}' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null")
	w.twice(playbook.Controller, only("ctl1"), vars{"slurm_packages_version": w.release, "slurm_packages_uid": 901, "slurm_packages_gid": 902, "slurm_packages_mirror": mirror},
		vars{"munge_key": w.munge})
	w.want("ctl1", "slurmctld -V | cut -d. -f1,2; systemctl is-active slurmctld || true; test -e /usr/sbin/policy-rc.d || echo clean; id -u slurm; id -g slurm; . /etc/os-release; echo $VERSION_CODENAME",
		"slurm-wlm 26.05\ninactive\nclean\n901\n902\ntrixie")
	w.want("ctl1", "dpkg-query -W -f '${Version}' systemd | cut -d. -f1", "257")

	_, err := w.run(playbook.Controller, only("ctl1"), vars{"slurm_packages_version": "24.11", "slurm_packages_uid": 901, "slurm_packages_gid": 902}, vars{"munge_key": w.munge})
	if err == nil || !strings.Contains(err.Error(), "package slurmctld is 26.05") || !strings.Contains(err.Error(), "24.11 is asked for") {
		t.Errorf("another release line than the one installed gives %v", err)
	}
}
