package hoststep

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// labHost is a host of a lab on which steps work as a user who has only sudo.
type labHost struct {
	t       *testing.T
	target  remote.Target
	key     lab.KeyPair
	owner   string // of the state that the steps work for
	session *remote.Session
}

func newLabHost(t *testing.T) *labHost {
	t.Helper()
	made := labtest.New(t, "hoststep", lab.ImageSpec{Slurm: "24.11"}, lab.HostSpec{Name: "gpu1", SudoUser: true,
		Hardware: lab.Hardware{GPUs: []lab.GPUs{{Name: "h100", Count: 2, FirstDevice: 4}, {Name: "a100", Count: 1}}}})
	h := &labHost{t: t, owner: `"one"`, key: made.Key, target: labtest.Target(made.Hosts[0])}
	h.target.User = "ops"
	var err error
	h.session, err = remote.Open(t.Context(), remote.Config{Targets: []remote.Target{h.target}, PrivateKey: h.key.Private})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.session.Close() })
	return h
}

// input is what a step is given to work on the host.
func (h *labHost) input(spec any) *step.Input {
	h.t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		h.t.Fatal(err)
	}
	targets, err := json.Marshal([]remote.Target{h.target})
	if err != nil {
		h.t.Fatal(err)
	}
	entries := map[string]string{EnvOwner: h.owner, step.EnvTargets: string(targets), step.EnvSecretPrefix + step.SecretSSHKey: h.key.Private}
	return step.NewInput(text, func(name string) string { return entries[name] }, &bytes.Buffer{})
}

// want runs a command as root and compares what it prints.
func (h *labHost) want(command, want string) {
	h.t.Helper()
	out, err := h.session.Run(h.t.Context(), "gpu1", command, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if got := strings.TrimSpace(out); got != want {
		h.t.Errorf("%s: got %q, want %q", command, got, want)
	}
}

// TestBaselineAsSudoUser prepares a host whose login is not root's, and takes
// everything back.
func TestBaselineAsSudoUser(t *testing.T) {
	h := newLabHost(t)
	// The lab's hosts share their file of names.
	h.want("cp /etc/hosts /root/hosts && mount --bind /root/hosts /etc/hosts && grep -c elsewhere /etc/hosts || true", "0")
	spec := BaselineSpec{Host: "gpu1", Essential: true, Environment: "mine", Vars: map[string]any{
		"host_baseline_simulated": lab.HardwareFile,
		"host_baseline_hardware": map[string]any{"gpu1": map[string]any{"gpus": []any{
			map[string]any{"type": "h100", "count": 2, "first_device": 4}, map[string]any{"type": "a100", "count": 1, "first_device": 0}}}},
		"host_baseline_groups": []any{map[string]any{"name": "research", "gid": 20001}},
		"host_baseline_users":  []any{map[string]any{"name": "alice", "uid": 20001, "group": "research"}},
		"host_baseline_names":  []string{"192.0.2.77 elsewhere"},
	}}
	if got, err := applyBaseline(t.Context(), h.input(spec)); err != nil || got != step.Ready("gpu1", "") {
		t.Fatalf("the host ends as %v, %v", got, err)
	}
	h.want("id -u alice; grep elsewhere /etc/hosts", "20001\n192.0.2.77 elsewhere")
	if err := probeBaseline(t.Context(), h.input(spec)); err != nil {
		t.Errorf("a host that was just prepared is unhealthy: %v", err)
	}
	h.marks(spec)
	spec.Vars["host_baseline_names"] = []string{}
	if _, err := applyBaseline(t.Context(), h.input(spec)); err != nil {
		t.Fatal(err)
	}
	h.want("grep -e gpucluster -e elsewhere /etc/hosts || true", "")

	spec.Vars["host_baseline_names"] = []string{"192.0.2.77 elsewhere"}
	if _, err := applyBaseline(t.Context(), h.input(spec)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		baseline, _ := Steps().Find(Baseline)
		if err := baseline.Remove(t.Context(), h.input(spec)); err != nil {
			t.Fatal(err)
		}
	}
	h.want("id -u alice; ls -d /var/lib/gpucluster 2>/dev/null; grep -e gpucluster -e elsewhere /etc/hosts || true", "20001")
}

// marks checks what the host tells about itself.
func (h *labHost) marks(spec BaselineSpec) {
	h.t.Helper()
	unhealthy := func(when, want string) {
		h.t.Helper()
		if err := probeBaseline(h.t.Context(), h.input(spec)); err == nil || !strings.Contains(err.Error(), want) {
			h.t.Errorf("%s, the probe says %v, want %q", when, err, want)
		}
	}
	const before = "cp /var/lib/gpucluster/host.json /root/"
	h.want(before+"; rm /var/lib/gpucluster/host.json", "")
	unhealthy("installed anew", "gpu1 has lost its preparation")
	h.want("echo '{' >/var/lib/gpucluster/host.json", "")
	unhealthy("with half a mark", "if no other environment has this host, remove the file")
	h.want("cp /root/host.json /var/lib/gpucluster/", "")

	other := *h
	other.owner = `"two"`
	spec.Essential = false
	const taken = "gpu1 belongs to the environment mine of another state: change it from there, or destroy it there first; if that state is lost, remove /var/lib/gpucluster/host.json on gpu1"
	if got, err := applyBaseline(h.t.Context(), other.input(spec)); err == nil || !strings.Contains(err.Error(), taken) {
		h.t.Errorf("another state's host is taken: %v, %v", got, err)
	}
	if err := removeBaseline(h.t.Context(), other.input(spec)); err != nil {
		h.t.Error(err)
	}
	h.want("cmp /root/host.json /var/lib/gpucluster/host.json; grep -c elsewhere /etc/hosts", "1")
	spec.Environment = "other"
	unhealthy("prepared for something else", "was last prepared for something else")
}
