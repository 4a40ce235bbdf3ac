package queues

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

var update = flag.Bool("update", false, "write the golden files anew")

func number(n int) *int { return &n }

// samples are clusters of each kind.
func samples() map[string]Cluster {
	spine := func(leaf string) []string { return []string{"spine1", leaf} }
	return map[string]Cluster{
		// The least: no fabric, nobody.
		"plain": {Workers: []Worker{{Name: "gpu1", GPUType: "h100"}}},
		// Two teams that lend each other GPUs, under two leaf switches.
		"lab": {
			Workers: []Worker{
				{Name: "gpu1", GPUType: "h100", Switches: spine("leaf1")},
				{Name: "gpu2", GPUType: "h100", Switches: spine("leaf1")},
				{Name: "gpu3", GPUType: "h100", Switches: spine("leaf2")},
			},
			Teams: []Team{
				{Name: "research", Namespace: "research", Groups: []string{"research"}, UIDs: []int{20001}, GIDs: []int{20001},
					Cohort: "lab", Weight: 2, Quotas: []Quota{{GPUType: "h100", Nominal: 16}}},
				{Name: "product", Namespace: "product", Groups: []string{"product"}, UIDs: []int{20002}, GIDs: []int{20002},
					Cohort: "lab", Quotas: []Quota{{GPUType: "h100", Nominal: 8, Borrowing: number(8), Lending: number(4)}}},
			},
			PriorityClasses: []PriorityClass{{Name: "batch"}, {Name: "urgent", Value: 1000, Description: "displaces batch jobs of the same team"}},
		},
		// Everything that can be said: several types, hosts without GPUs, taints,
		// fabrics of different depth, a team alone, a team without quotas.
		"full": {
			ControlPlanes: 3,
			Workers: []Worker{
				{Name: "cpu1", Switches: []string{"core", "leaf9"}},
				{Name: "big1", GPUType: "h100", Switches: []string{"core", "pod1", "leaf1"},
					Taints: []Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}, {Key: "example.org/new", Effect: "NoExecute"}}},
				{Name: "big2", GPUType: "h100", Switches: []string{"core", "pod1", "leaf2"},
					Taints: []Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}, {Key: "example.org/old", Effect: "PreferNoSchedule"}}},
				{Name: "old1", GPUType: "a100", Switches: []string{"core", "pod2", "leaf3"}},
			},
			Teams: []Team{
				{Name: "vision", Namespace: "ns-vision", Users: []string{"alice", "bob"}, Groups: []string{"vision"}, Cohort: "company", Weight: 3,
					UIDs: []int{20009, 20001, 20002, 20003, 20004, 20005, 20006, 20007, 20008, 20001}, GIDs: []int{30002, 30001},
					Quotas: []Quota{{GPUType: "h100", Nominal: 8, Lending: number(0)}, {GPUType: "a100", Borrowing: number(2)}}},
				{Name: "web", Namespace: "web", Users: []string{"carol"}, UIDs: []int{20010}, GIDs: []int{30003}, Cohort: "company"},
				{Name: "alone", Namespace: "alone", Users: []string{"dave"}, UIDs: []int{20011}, GIDs: []int{30004},
					Quotas: []Quota{{GPUType: "a100", Nominal: 4}}},
				{Name: "nobody", Namespace: "nobody"},
			},
			PriorityClasses: []PriorityClass{{Name: "low", Value: -5}},
			Preemption:      Preemption{WithinTeam: "LowerOrNewerEqualPriority", Reclaim: "LowerPriority"},
			ReadyTimeout:    "30m", StrictGroups: true, ServiceMonitors: true,
		},
	}
}

// rendered are all texts of a cluster.
func rendered(t *testing.T, c Cluster) map[string]string {
	t.Helper()
	objects, err := Objects(c)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, value := range map[string]func() ([]byte, error){
		"objects.yaml": func() ([]byte, error) { return kubeobject.YAML(objects) },
		"kueue.yaml":   func() ([]byte, error) { return kubeobject.AsYAML(Config(c)) },
		"values.yaml": func() ([]byte, error) {
			values, err := Values(c)
			if err != nil {
				return nil, err
			}
			return kubeobject.AsYAML(values)
		},
	} {
		text, err := value()
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

func TestGolden(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			got := rendered(t, c)
			if again := rendered(t, c); !maps.Equal(got, again) {
				t.Error("two renderings differ")
			}
			for _, file := range slices.Sorted(maps.Keys(got)) {
				path := filepath.Join("testdata", "golden", name, file)
				if *update {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(got[file]), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("%v (run with -update to write it)", err)
				}
				if got[file] != string(want) {
					t.Errorf("%s is\n%s\nwant\n%s", file, got[file], want)
				}
			}
		})
	}
}

// TestObjectsAreWhole checks what holds for every object: it is named once, after
// what it refers to, and the YAML of it reads back as the same text.
func TestObjectsAreWhole(t *testing.T) {
	for name, c := range samples() {
		objects, err := Objects(c)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, o := range objects {
			if seen[o.ID()] || o.APIVersion == "" || o.Metadata.Labels["app.kubernetes.io/managed-by"] != "gpucluster" {
				t.Errorf("%s: %s is there twice, or does not say whose it is", name, o.ID())
			}
			seen[o.ID()] = true
			if ns := o.Metadata.Namespace; ns != "" && !seen["Namespace/"+ns] {
				t.Errorf("%s: %s comes before its namespace", name, o.ID())
			}
			switch spec := o.Spec.(type) {
			case FlavorSpec:
				if spec.TopologyName != "" && !seen["Topology/"+spec.TopologyName] {
					t.Errorf("%s: %s comes before its topology", name, o.ID())
				}
			case QueueSpec:
				for _, f := range spec.ResourceGroups[0].Flavors {
					if !seen["ResourceFlavor/"+f.Name] {
						t.Errorf("%s: %s comes before its flavour %s", name, o.ID(), f.Name)
					}
				}
			case LocalQueueSpec:
				if !seen["ClusterQueue/"+spec.ClusterQueue] {
					t.Errorf("%s: %s comes before its queue", name, o.ID())
				}
			}
			text, err := kubeobject.AsYAML(o)
			if err != nil {
				t.Fatal(err)
			}
			var back any
			if err := yaml.Unmarshal(text, &back); err != nil {
				t.Errorf("%s: %v", o.ID(), err)
			}
			if again, _ := kubeobject.AsYAML(back); len(again) != len(text) {
				t.Errorf("%s reads back as\n%s\nand was\n%s", o.ID(), again, text)
			}
		}
	}
}

// TestEveryJobGetsHosts checks that each queue can give a flavour to a job
// without GPUs, for Kueue admits no job to a queue with a topology that has none.
func TestEveryJobGetsHosts(t *testing.T) {
	for name, c := range samples() {
		objects, err := Objects(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			spec, ok := o.Spec.(QueueSpec)
			if !ok {
				continue
			}
			group := spec.ResourceGroups[0]
			if len(group.Flavors) == 0 || !slices.Contains(group.CoveredResources, podsResource) {
				t.Errorf("%s: %s has no flavour that counts pods", name, o.ID())
			}
			for _, f := range group.Flavors {
				var resources []string
				for _, r := range f.Resources {
					resources = append(resources, r.Name)
				}
				if !slices.Equal(resources, group.CoveredResources) {
					t.Errorf("%s: %s: %s has %q, the group covers %q", name, o.ID(), f.Name, resources, group.CoveredResources)
				}
			}
		}
	}
}

// TestLabelsOfNodes checks that nodes have each label that a topology or flavour
// reads.
func TestLabelsOfNodes(t *testing.T) {
	for name, c := range samples() {
		objects, err := Objects(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.Workers {
			have, flavors := w.Labels(), 0
			for _, o := range objects {
				switch spec := o.Spec.(type) {
				case TopologySpec:
					for _, level := range spec.Levels {
						if have[level.NodeLabel] == "" && level.NodeLabel != hostLabel {
							t.Errorf("%s: %s lacks %s", name, w.Name, level.NodeLabel)
						}
					}
				case FlavorSpec:
					if have[GPULabel] == spec.NodeLabels[GPULabel] {
						flavors++
					}
				}
			}
			if flavors != 1 {
				t.Errorf("%s: %s is of %d flavours", name, w.Name, flavors)
			}
		}
	}
}

// TestWordsNameFewIDs checks that a message stays short.
func TestWordsNameFewIDs(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []int
		want string
	}{
		"none": {nil, "it has none"}, "few, in order, once": {[]int{3, 1, 3}, "1, 3"},
		"many": {[]int{9, 8, 7, 6, 5, 4, 3, 2, 1}, "1, 2, 3, 4, 5, 6, 7, 8, ..."},
	} {
		if got := words(c.ids); got != c.want || strings.Contains(list(c.ids), "...") {
			t.Errorf("%s: %q and %q", name, got, list(c.ids))
		}
	}
}
