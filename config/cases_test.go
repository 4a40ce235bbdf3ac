package config

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// Public failure reports as tests, named after their ids: each environment
// must be refused, or warned of, in the way that keeps the failure away.
func TestPublicFailures(t *testing.T) {
	gpu := func(change func(*Profile)) func(*Environment) {
		return func(e *Environment) {
			p := e.Profiles["gpu"]
			p.GPUs = []GPU{{Type: "h100", Count: 8}}
			change(&p)
			e.Profiles["gpu"] = p
		}
	}
	extra := func(key, value string) func(*Environment) {
		return func(e *Environment) { e.Slurm.Extra = map[string]map[string]string{"slurm.conf": {key: value}} }
	}
	for name, c := range map[string]struct {
		change func(*Environment)
		kind   Kind
		path   string
		what   string
	}{
		"S17 a plugin that is gone":                {extra("SelectType", "select/cons_res"), KindInvalid, `slurm.extra["slurm.conf"].SelectType`, "toolkit"},
		"S25 every core a socket":                  {gpu(func(p *Profile) { p.Sockets, p.CoresPerSocket = 12, 1 }), KindWarning, "profiles.gpu.sockets", "count of CPUs"},
		"S29 a model's name as type":               {gpu(func(p *Profile) { p.GPUs[0].Type = "Tesla T4" }), KindInvalid, "profiles.gpu.gpus[0].type", "cannot name"},
		"S31 a count left out":                     {gpu(func(p *Profile) { p.GPUs[0] = GPU{Type: "3090"} }), KindMissing, "profiles.gpu.gpus[0].count", "missing"},
		"S32 one of two types unnamed":             {gpu(func(p *Profile) { p.GPUs = append(p.GPUs, GPU{Count: 4}) }), KindMissing, "profiles.gpu.gpus[1].type", "missing"},
		"S33 all memory handed out":                {gpu(func(p *Profile) { p.UsableMemory = p.Memory }), KindWarning, "profiles.gpu.usableMemory", "drained"},
		"S40 vCPUs as sockets":                     {gpu(func(p *Profile) { p.Sockets, p.CoresPerSocket = 32, 1 }), KindWarning, "profiles.gpu.sockets", "count of CPUs"},
		"S41 no facts about CPUs":                  {gpu(func(p *Profile) { p.Sockets = 0 }), KindMissing, "profiles.gpu.sockets", "missing"},
		"S45 a host in two groups":                 {func(e *Environment) { e.Hosts = append(e.Hosts, e.Hosts[1]) }, KindDuplicate, "hosts[2].names", "already"},
		"S53 a partition of hosts that are gone":   {func(e *Environment) { e.Slurm.Partitions[0].Hosts = "gpu[1-5]" }, KindReference, "slurm.partitions[0].hosts", "gpu5"},
		"S54 a colon for a TRES":                   {func(e *Environment) { e.Slurm.Priority.Weights.TRES = map[string]int{"gres:gpu": 1} }, KindInvalid, `slurm.priority.weights.tres["gres:gpu"]`, "not a trackable"},
		"S58 a key that is gone":                   {extra("FastSchedule", "1"), KindInvalid, `slurm.extra["slurm.conf"].FastSchedule`, "no use"},
		"S61 the database password for all to see": {extra("StoragePass", "x"), KindInvalid, `slurm.extra["slurm.conf"].StoragePass`, "secret"},
		"S69 a leaf with hosts that are not there": {switches(Switch{Name: "l1", Hosts: "gpu[1-5]"}), KindInvalid, "topology.switches[0].hosts", "gpu5"},
		"S69 a host under no leaf":                 {switches(Switch{Name: "l1", Hosts: "gpu[1-3]"}), KindInvalid, "topology.switches", "gpu4"},
		"S81 hosts and switches on one switch":     {switches(Switch{Name: "l1", Hosts: "gpu[1-3]"}, Switch{Name: "s1", Hosts: "gpu4", Switches: "l1"}), KindInvalid, "topology.switches[1].switches", "both"},
		"S98 a cgroup key that is gone": {func(e *Environment) {
			e.Slurm.Extra = map[string]map[string]string{"cgroup.conf": {"CgroupAutomount": "yes"}}
		}, KindInvalid, `slurm.extra["cgroup.conf"].CgroupAutomount`, "24.11"},
	} {
		t.Run(name, func(t *testing.T) {
			env := sample()
			c.change(env)
			env.SetDefaults()
			problems := env.Validate()
			for _, p := range problems {
				if p.Kind == c.kind && p.Path == c.path && strings.Contains(p.What, c.what) {
					return
				}
			}
			t.Errorf("want %s at %s with %q, got %+v", c.kind, c.path, c.what, problems)
		})
	}
}

func switches(list ...Switch) func(*Environment) {
	return func(e *Environment) { e.Topology = &Topology{Switches: list} }
}

// Case S31: a type of digits alone keeps its count behind it.
func TestS31DigitsAsType(t *testing.T) {
	env := sample()
	env.Profiles["gpu"] = Profile{Sockets: 2, CoresPerSocket: 48, Memory: 2 << 20, GPUs: []GPU{{Type: "3090", Count: 1}}}
	env.SetDefaults()
	set, err := slurmconf.Render(env.SlurmCluster())
	if err != nil {
		t.Fatal(err)
	}
	if text := set.Content("slurm.conf"); !strings.Contains(text, "Gres=gpu:3090:1\n") {
		t.Errorf("no gpu:3090:1 in\n%s", text)
	}
}

// Cases S33 and S34: 95 % of what the machine is sold with, rounded down.
func TestS34UsableMemory(t *testing.T) {
	env := sample()
	env.Profiles["gpu"] = Profile{Sockets: 2, CoresPerSocket: 48, Memory: 257588}
	env.SetDefaults()
	set, err := slurmconf.Render(env.SlurmCluster())
	if err != nil {
		t.Fatal(err)
	}
	if text := set.Content("slurm.conf"); !strings.Contains(text, "RealMemory=244708") {
		t.Errorf("no RealMemory=244708 in\n%s", text)
	}
}

// Case S104: a MUNGE key is never in the file in clear text.
func TestS104PlainMungeKey(t *testing.T) {
	text := strings.Replace(withSecrets, "mungeKey:\n        secure: v1:def", "mungeKey: canary", 1)
	env, report := Load("sample.yaml", []byte(text))
	if env != nil || len(report.Problems) != 1 || report.Problems[0].Kind != KindSecret {
		t.Fatalf("got %v", report)
	}
	if strings.Contains(report.String(), "canary") {
		t.Errorf("the report shows the key:\n%s", report)
	}
}
