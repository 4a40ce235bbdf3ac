package slurmstep

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// TestNodesOf checks what is read of the nodes of a slurm.conf.
func TestNodesOf(t *testing.T) {
	gpus := []slurmctl.Gres{{Name: "gpu", Type: "h100", Count: 8}}
	for name, c := range map[string]struct {
		conf string
		want []slurmctl.NodeSpec
		fail string
	}{
		"none":       {"ClusterName=c\n", nil, ""},
		"a full one": {"NodeName=n1 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 CPUs=192 RealMemory=1000 Gres=gpu:h100:8\n", []slurmctl.NodeSpec{{Name: "n1", CPUs: 192, Sockets: 2, Cores: 48, Threads: 2, RealMemory: 1000, Gres: gpus}}, ""},
		"CPUs by its parts": {"NodeName=n1 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2\n", []slurmctl.NodeSpec{
			{Name: "n1", CPUs: 16, Sockets: 2, Cores: 4, Threads: 2}}, ""},
		"a range": {"NodeName=n[1-2] CPUs=4\nNodeName=m CPUs=8\n", []slurmctl.NodeSpec{
			{Name: "n1", CPUs: 4}, {Name: "n2", CPUs: 4}, {Name: "m", CPUs: 8}}, ""},
		"an address": {"NodeName=n1 NodeAddr=10.0.0.1 CPUs=1\n", []slurmctl.NodeSpec{{Name: "n1", Addr: "10.0.0.1", CPUs: 1}}, ""},
		"a range of addresses": {"NodeName=n[1,3] NodeAddr=10.0.0.[11-12] CPUs=1\n", []slurmctl.NodeSpec{
			{Name: "n1", Addr: "10.0.0.11", CPUs: 1}, {Name: "n3", Addr: "10.0.0.12", CPUs: 1}}, ""},
		"an address of six": {"NodeName=n1 NodeAddr=fd00::1 CPUs=1\n", []slurmctl.NodeSpec{{Name: "n1", Addr: "fd00::1", CPUs: 1}}, ""},
		"a range of six": {"NodeName=n[1-2] NodeAddr=fd00::[9-10] CPUs=1\n", []slurmctl.NodeSpec{
			{Name: "n1", Addr: "fd00::9", CPUs: 1}, {Name: "n2", Addr: "fd00::10", CPUs: 1}}, ""},
		"one for all": {"NodeName=n[1-2] NodeAddr=10.0.0.1 CPUs=1\n", []slurmctl.NodeSpec{
			{Name: "n1", Addr: "10.0.0.1", CPUs: 1}, {Name: "n2", Addr: "10.0.0.1", CPUs: 1}}, ""},
		"too few addresses":  {"NodeName=n[1-3] NodeAddr=10.0.0.[11-12] CPUs=1\n", nil, "2 addresses of 3 nodes"},
		"no nodes by chance": {"PartitionName=p Nodes=n1\n# NodeName=n1\n", nil, ""},
		"no number":          {"ClusterName=c\nNodeName=n1 CPUs=many\n", nil, "line 2: CPUs"},
		"no host list":       {"NodeName=n[1- CPUs=1\n", nil, "line 1"},
		"no resource":        {"NodeName=n1 CPUs=1 Gres=gpu:h100:x\n", nil, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := nodesOf(c.conf)
			if (err != nil) != (c.fail != "") || err != nil && !strings.Contains(err.Error(), c.fail) {
				t.Fatalf("error %v, want %q", err, c.fail)
			}
			if err == nil && !reflect.DeepEqual(got, c.want) {
				t.Errorf("nodes %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestStateMove checks when slurmctld's state moves with the files.
func TestStateMove(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing was there":   {"", "StateSaveLocation=/b\n", ""},
		"it stays":            {"StateSaveLocation=/a\n", "StateSaveLocation=/a/\n", ""},
		"another one":         {"StateSaveLocation=/a\n", "StateSaveLocation=/b\n", "/a /b"},
		"from Slurm's own":    {"ClusterName=c\n", "StateSaveLocation=/b\n", "/var/spool/slurmctld /b"},
		"written out in full": {"ClusterName=c\n", "StateSaveLocation=/var/spool/slurmctld\n", ""},
	} {
		got := stateMove(map[string]string{"slurm.conf": c.before}, ControllerSpec{Files: map[string]string{"slurm.conf": c.after}})
		if text := strings.TrimSpace(got.From + " " + got.To); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestPartitionQOS checks which QOS have to exist before slurmctld reads the
// file.
func TestPartitionQOS(t *testing.T) {
	const kept = "AccountingStorageType=accounting_storage/slurmdbd\n"
	for name, c := range map[string]struct {
		conf string
		want []string
	}{
		"none is named":           {kept + "PartitionName=p Nodes=n1\n", nil},
		"one is":                  {kept + "PartitionName=p Nodes=n1 QOS=Debug\n", []string{"debug"}},
		"those that may enter":    {kept + "PartitionName=p AllowQos=b,a QOS=c\n", []string{"a", "b", "c"}},
		"each once":               {kept + "PartitionName=p QOS=a\nPartitionName=q QOS=a\n", []string{"a"}},
		"all is no name":          {kept + "PartitionName=p AllowQos=ALL QOS=N/A\n", nil},
		"nothing is kept":         {"PartitionName=p QOS=debug\n", nil},
		"another kind of storage": {"AccountingStorageType=accounting_storage/none\nPartitionName=p QOS=debug\n", nil},
	} {
		if got := partitionQOS(c.conf); len(got)+len(c.want) > 0 && !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestChoices checks that a run that stops for jobs says what can be done.
func TestChoices(t *testing.T) {
	late := &slurmctl.DeadlinePassed{Busy: &slurmctl.StillBusy{
		Waited: time.Minute, Jobs: []slurmctl.Job{{ID: "7", User: "alice", State: "R"}}, Nodes: []string{"gpu1", "gpu2"},
	}}
	text := withChoices(errors.Join(errors.New("placing"), late), "ctl1").Error()
	for _, want := range []string{"gpu[1-2]", "nothing of Slurm has changed", "with commands on ctl1", "drainDeadline", "scontrol requeue 7", "scancel 7", "back into the environment file"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	other := errors.New("another")
	if got := withChoices(other, "ctl1"); got != other {
		t.Errorf("another error becomes %v", got)
	}
}

func TestFilesOfTheController(t *testing.T) {
	spec := ControllerSpec{Files: map[string]string{"slurm.conf": "a", "prolog.sh": "b"}, Scripts: []string{"prolog.sh"}}
	want := []slurmctl.File{
		{Path: "/etc/slurm/prolog.sh", Content: "b", Mode: 0o755}, {Path: "/etc/slurm/slurm.conf", Content: "a", Mode: 0o644},
	}
	if got := spec.files(); !reflect.DeepEqual(got, want) {
		t.Errorf("files %+v, want %+v", got, want)
	}
}

// TestAppliedNodes checks what is known of the last activation.
func TestAppliedNodes(t *testing.T) {
	for text, want := range map[string][]string{
		``:                                    nil,
		`{"nodes":"gpu[1-2]","activated":{}}`: {"gpu1", "gpu2"},
	} {
		in := step.NewInput(nil, func(string) string { return text }, io.Discard)
		got, err := appliedNodes(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	if _, err := appliedNodes(step.NewInput(nil, func(string) string { return "no JSON" }, io.Discard)); err == nil {
		t.Error("a result that cannot be read is taken for none: the hosts that leave would not be drained")
	}
}

// TestKeys checks that keys are whole and never the same.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		result, err := applyKeys(context.Background(), step.NewInput([]byte(`{"cluster":"c"}`), func(string) string { return "" }, io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		keys := result.(KeysResult)
		if munge, err := base64.StdEncoding.DecodeString(keys.Munge); err != nil || len(munge) != mungeKeyBytes {
			t.Errorf("a MUNGE key of %d bytes, %v", len(munge), err)
		}
		if len(keys.Database) < 40 || strings.ContainsAny(keys.Database, " #'\"\\") {
			t.Errorf("a password of %d signs that slurmdbd.conf may not hold", len(keys.Database))
		}
		if seen[keys.Munge] || seen[keys.Database] {
			t.Error("a key was made twice")
		}
		seen[keys.Munge], seen[keys.Database] = true, true
	}
}

// TestReadKeys checks that what cannot be read is not shown.
func TestReadKeys(t *testing.T) {
	if _, err := ReadKeys(`{"munge": canary`); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v, want one without the text", err)
	}
	keys, err := ReadKeys(`{"munge":"m","database":"d"}`)
	if err != nil || keys.Munge != "m" || keys.Database != "d" {
		t.Errorf("keys %+v, %v", keys, err)
	}
}
