package lab

import (
	"strings"
	"testing"
)

// TestEveryImageBoots starts a host of each image and looks for what must be in it, and
// for what must not.
func TestEveryImageBoots(t *testing.T) {
	e := realEngine(t)
	key := testKey(t)
	cases := map[string]struct{ slurm, release, sackd string }{
		"22.05": {slurm: "22.05.8", release: "bookworm", sackd: "no"},
		"24.11": {slurm: "24.11.5", release: "trixie", sackd: "yes"},
		"26.05": {slurm: "26.05", release: "trixie", sackd: "yes"},
	}
	for version, c := range cases {
		t.Run(version, func(t *testing.T) {
			image := testImage(t, e, version)
			lab := testLab(t, e, "image-"+strings.ReplaceAll(version, ".", ""))
			h := mustEnsure(t, e, HostSpec{Lab: lab, Name: "n1", Image: image, AuthorizedKey: key.Public})
			say := func(command string) string { return mustRun(t, h, key, command) }

			if got := say("systemctl is-system-running --wait; systemctl --failed --no-legend --plain"); got != "running" {
				t.Errorf("the host is %q", got)
			}
			if got := say(". /etc/os-release; echo $VERSION_CODENAME"); got != c.release {
				t.Errorf("the release is %s", got)
			}
			for _, daemon := range []string{"slurmctld", "slurmd"} {
				if got := say(daemon + " -V"); !strings.HasPrefix(got, "slurm-wlm "+c.slurm) {
					t.Errorf("%s is %q", daemon, got)
				}
			}
			for _, name := range []string{"slurmdbd", "slurm-client", "slurmrestd"} {
				if got := say("dpkg-query -W -f '${Version}' " + name); !strings.HasPrefix(got, c.slurm) {
					t.Errorf("%s is %q", name, got)
				}
			}
			if got := say("test -x /usr/sbin/sackd && echo yes || echo no"); got != c.sackd {
				t.Errorf("sackd is there: %s", got)
			}
			// What the image brings waits; only what every server runs is on.
			got := say("systemctl list-unit-files --state=enabled --type=service,timer --no-legend | cut -d' ' -f1 | grep -v @ | tr '\\n' ' '")
			for unit := range strings.FieldsSeq(got) {
				if unit != "ssh.service" && unit != "logrotate.timer" {
					t.Errorf("%s is enabled", unit)
				}
			}
			if got := say("ls /etc/munge/munge.key /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/gpucluster-lab-build /etc/slurm/slurm.conf 2>/dev/null; ls /etc/ssh/ssh_host_*_key"); got != hostKeyFile {
				t.Errorf("left in the image: %q", got)
			}
			for _, unit := range []string{"munge", "chrony", "mariadb", "glusterd"} {
				if unit == "munge" {
					say("/usr/sbin/mungekey --create 2>/dev/null; chown munge: /etc/munge/munge.key")
				}
				if got := say("systemctl start " + unit + "; systemctl is-active " + unit); got != "active" {
					t.Errorf("%s is %s", unit, got)
				}
			}
			if got := say("grep CapBnd /proc/$(pidof chronyd | cut -d' ' -f1)/status >/dev/null && tr '\\0' ' ' </proc/$(pidof chronyd | cut -d' ' -f1)/cmdline"); !strings.Contains(got, " -x") {
				t.Errorf("chronyd runs as %q and may set the machine's clock", got)
			}
		})
	}
}

func TestAFailedBuildLeavesNothing(t *testing.T) {
	e := realEngine(t)
	testImage(t, e, "") // the layers below are there, so that only the last one is built
	spec := ImageSpec{Packages: []string{"gpucluster-has-no-such-package"}}
	_, err := e.EnsureImage(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "Unable to locate package gpucluster-has-no-such-package") {
		t.Errorf("got %v", err)
	}
	name, err := ImageName(spec)
	if err != nil {
		t.Fatal(err)
	}
	if have, err := e.hasImage(t.Context(), name); err != nil || have {
		t.Errorf("the image of a failed build exists: %v, %v", have, err)
	}
	if _, err := e.docker.run(t.Context(), "container", "inspect", buildContainer); !missing(err) {
		t.Errorf("the build's container is still there: %v", err)
	}
}
