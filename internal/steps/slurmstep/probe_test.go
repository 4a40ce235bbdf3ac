package slurmstep

import (
	"context"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestProbeMember checks which hosts are repaired. A host that a person holds
// is not: it would be taken from them.
func TestProbeMember(t *testing.T) {
	const running = "true"
	node := func(state, reason string) string {
		return `case "$*" in
ping) echo "Slurmctld(primary) at ctl1 is UP" ;;
*node*) echo "NodeName=gpu1 CPUTot=2 Sockets=1 Boards=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000 Gres=(null) State=` + state + ` Reason=` + reason + `" ;;
*reservation*) echo "No reservations in the system" ;;
esac`
	}
	closed := `case "$*" in
*reservation*) echo "ReservationName=gpucluster-closed-gpu1 StartTime=2026-01-02T03:04:05 EndTime=2027-01-02T03:04:05 Duration=365-00:00:00 Nodes=gpu1 NodeCnt=1 CoreCnt=2 Flags=MAINT State=ACTIVE" ; exit ;;
esac
` + node("IDLE", "")
	for name, c := range map[string]struct {
		systemctl, scontrol string
		want                string // empty: healthy
	}{
		"idle":                      {running, node("IDLE", ""), ""},
		"busy":                      {running, node("MIXED", ""), ""},
		"slurmd is dead":            {`[ "$3" != slurmd ]`, node("IDLE", ""), "slurmd does not run on gpu1"},
		"munged is dead":            {`[ "$3" != munge ]`, node("IDLE", ""), "munge does not run on gpu1"},
		"closed":                    {running, closed, "gpu1 is still closed"},
		"drained by a person":       {running, node("IDLE+DRAIN", "fan [root@2026-01-02T03:04:05]"), ""},
		"drained by us":             {running, node("IDLE+DRAIN", "gpucluster: reshape [root@2026-01-02T03:04:05]"), "gpu1 is IDLE"},
		"quarantined":               {running, node("IDLE+DRAIN", "gpucluster: quarantined: no disk [root@2026-01-02T03:04:05]"), "no disk"},
		"set down by slurm":         {running, node("DOWN*", "Not responding [slurm@2026-01-02T03:04:05]"), "gpu1 is DOWN"},
		"slurmctld does not answer": {running, down, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"systemctl": c.systemctl, "scontrol": c.scontrol})
			err := probeMember(context.Background(), s.Input(t, MemberSpec{Host: "gpu1", Controllers: []string{"ctl1"}}, "gpu1", "ctl1"))
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestProbeDatabase checks that a slurmdbd that waits for its database is
// unhealthy although its unit is active, and one that just starts is not.
func TestProbeDatabase(t *testing.T) {
	const journal = `[ "$2" = slurmdbd ] && printf 'slurmdbd: error: 1045 Access denied\nslurmdbd: error: Trying again in 5 seconds.\n'`
	for name, c := range map[string]struct {
		systemctl, ss string
		want          []string // empty: healthy
	}{
		"serves":             {"true", "echo LISTEN", nil},
		"just starts":        {"true", `tries=$(dirname "$0")/tries; echo >>"$tries"; [ "$(wc -l <"$tries")" -lt 3 ] || echo LISTEN`, nil},
		"waits":              {"true", "true", []string{"slurmdbd runs on ctl1, but takes no connections", "Access denied; slurmdbd: error: Trying again"}},
		"MariaDB is stopped": {`[ "$3" != mariadb ]`, "echo LISTEN", []string{"mariadb does not run on ctl1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"systemctl": c.systemctl, "ss": c.ss, "journalctl": journal, "seq": "/usr/bin/seq 3"})
			err := probeDatabase(context.Background(), s.Input(t, DatabaseSpec{Host: "ctl1", Local: true}, "ctl1"))
			if (err != nil) != (c.want != nil) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// TestProbeLogin checks which login hosts are repaired: also one whose daemons run
// and whose people have no configuration.
func TestProbeLogin(t *testing.T) {
	files := map[string]any{"slurm_login_own_config": true}
	for name, c := range map[string]struct {
		spec LoginSpec
		stat string // whether the host has the file that is asked for
		want string // empty: healthy
	}{
		"sackd has the configuration": {LoginSpec{Sackd: true}, `[ "$1" = /run/slurm/conf/slurm.conf ]`, ""},
		"sackd has lost it":           {LoginSpec{Sackd: true}, "false", "/run/slurm/conf/slurm.conf is missing"},
		"files of its own":            {LoginSpec{Vars: files}, `[ "$1" = /etc/slurm/slurm.conf ]`, ""},
		"they are lost":               {LoginSpec{Vars: files}, "false", "/etc/slurm/slurm.conf is missing"},
		"it also computes":            {LoginSpec{Vars: map[string]any{"slurm_login_own_config": false}}, "false", ""},
		"an older release made it":    {LoginSpec{}, "false", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"systemctl": "true", "stat": c.stat})
			c.spec.Host = "login1"
			err := probeLogin(context.Background(), s.Input(t, c.spec, "login1"))
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestProbeControllerFindsClosedPartitions checks that partitions that a killed
// run left closed are opened by a repair.
func TestProbeControllerFindsClosedPartitions(t *testing.T) {
	for noted, want := range map[string]string{"": "", "side UP": "partition side takes no jobs"} {
		s := steptest.New(t, map[string]string{"systemctl": "true", "scontrol": up, "sha256sum": "true", "cat": "echo '" + noted + "'"})
		err := probeController(context.Background(), s.Input(t, ControllerSpec{Controllers: []string{"ctl1"}}, "ctl1"))
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", noted, err, want)
		}
	}
}

// TestProbeOfAHostThatIsGone checks each probe that reaches a host.
func TestProbeOfAHostThatIsGone(t *testing.T) {
	for _, one := range Steps() {
		if one.Probe == nil || one.Name == Accounting {
			continue // without a controller, that of accounting has nothing to say
		}
		s := steptest.New(t, nil)
		spec := map[string]any{"host": "gone", "controllers": []string{"gone"}}
		err := one.Probe(context.Background(), s.Input(t, spec, "gone"))
		if err == nil || !strings.Contains(err.Error(), "gone: cannot be reached over SSH") {
			t.Errorf("%s: %v", one.Name, err)
		}
	}
}

// TestActive checks that every daemon that is missing is named.
func TestActive(t *testing.T) {
	s := steptest.New(t, map[string]string{"systemctl": `[ "$3" = munge ]`})
	session, err := s.Input(t, nil, "h").Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	err = hoststep.Active(context.Background(), session, "h", "munge", "slurmdbd", "mariadb")
	if err == nil || !strings.Contains(err.Error(), "slurmdbd") || !strings.Contains(err.Error(), "mariadb") || strings.Contains(err.Error(), "munge") {
		t.Errorf("error %v", err)
	}
}

// TestChangedDropin checks that a unit's drop-in is compared with the digest
// that was noted down, where one was.
func TestChangedDropin(t *testing.T) {
	const placed = `[ "$#" = 2 ] && exec /usr/bin/head "$@"; case $3 in *-slurmd.*) printf %064d 1 ;; esac`
	for name, c := range map[string]struct{ now, want string }{
		"as it was": {`printf '%064d  %s\n' 1 "$1"`, ""},
		"edited":    {`printf '%064d  %s\n' 2 "$1"`, "files on gpu1 were changed by somebody else: /etc/systemd/system/slurmd.service.d/gpucluster.conf"},
		"removed":   {`exit 1`, "slurmd.service.d/gpucluster.conf"},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"systemctl": "true", "head": placed, "sha256sum": c.now})
			session, err := s.Input(t, nil, "gpu1").Connect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			err = hoststep.Active(context.Background(), session, "gpu1", "munge", "slurmd")
			if (err != nil) != (c.want != "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "munge")) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestClient checks that the first controller that can be reached is asked.
func TestClient(t *testing.T) {
	s := steptest.New(t, map[string]string{"scontrol": up})
	for name, c := range map[string]struct {
		controllers []string
		want        string
	}{
		"the first":       {[]string{"ctl1", "ctl2"}, "ctl1: "},
		"the next":        {[]string{"gone", "ctl2"}, "ctl2: "},
		"none is there":   {[]string{"gone"}, ""},
		"none is written": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := s.Input(t, nil, c.controllers...)
			session, err := in.Connect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			ctl, err := client(context.Background(), in, session, c.controllers)
			if (err == nil) != (c.want != "") {
				t.Fatalf("error %v, want a controller: %v", err, c.want != "")
			}
			if err != nil {
				if !strings.Contains(err.Error(), "no controller can be reached") {
					t.Errorf("error %v", err)
				}
				return
			}
			if err := ctl.Ping(context.Background()); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(s.Asked()), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, c.want) {
				t.Errorf("%q was asked, want %s", last, c.want)
			}
		})
	}
}
