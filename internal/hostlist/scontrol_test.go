package hostlist

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// scontrol runs the host list functions of the installed scontrol, which need
// a readable slurm.conf but no daemon.
func scontrol(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("scontrol")
	if err != nil {
		t.Skip("scontrol is not installed (apt-get install slurm-client)")
	}
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	text := "ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1\nPartitionName=p Nodes=n1\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("scontrol %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestExpandLikeScontrol asks Slurm itself what each expression stands for.
func TestExpandLikeScontrol(t *testing.T) {
	for _, expr := range []string{
		"gpu[001-003,007],cpu1", "n[8-11]", "n[08-11]", "n[098-101]", "rack[0-1]n[01-04]",
		"q1-dy-p4d-[1-4]", "n[7]", "n1[01-02]", "a1,a1", "n[1,01,2]", "n[009,10]",
	} {
		got, err := Expand(expr)
		if err != nil {
			t.Errorf("Expand(%q): %v", expr, err)
			continue
		}
		if want := strings.Fields(scontrol(t, "show", "hostnames", expr)); !reflect.DeepEqual(got, want) {
			t.Errorf("Expand(%q) = %q; scontrol says %q", expr, got, want)
		}
	}
}

// TestExpandThreeBrackets: the same names as Slurm, whose own order is not the
// natural one from three bracket pairs on.
func TestExpandThreeBrackets(t *testing.T) {
	const expr = "a[0-1]b[2-3]c[4-5]"
	got, err := Expand(expr)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(scontrol(t, "show", "hostnames", expr))
	Sort(want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Expand(%q) = %q; scontrol says %q", expr, got, want)
	}
}

// TestCompressIsReadByScontrol expands our expressions with Slurm.
func TestCompressIsReadByScontrol(t *testing.T) {
	for _, expr := range []string{
		"gpu[001-016,020]", "r[0-3]n[01-32]", "n[1-120]", "n[1,01,2,02]", "ib[01-04]-mgmt", "a,b,c1", "n[9-11,099-101]",
	} {
		names, err := Expand(expr)
		if err != nil {
			t.Fatal(err)
		}
		Sort(names)
		short := Compress(names)
		if got := strings.Fields(scontrol(t, "show", "hostnames", short)); !reflect.DeepEqual(got, names) {
			t.Errorf("scontrol reads %q as %q; want %q", short, got, names)
		}
	}
}

// TestCompressLikeScontrol: where Slurm's own output has one range a name,
// ours is the same.
func TestCompressLikeScontrol(t *testing.T) {
	for _, list := range []string{"n1,n2,n3", "gpu001,gpu002,gpu007", "n08,n09,n10", "a,b,c1", "n9,n10", "r0n1,r0n2,r1n1"} {
		names := strings.Split(list, ",")
		if got, want := Compress(names), scontrol(t, "show", "hostlist", list); got != want {
			t.Errorf("Compress(%q) = %q; scontrol says %q", list, got, want)
		}
	}
}
