package volcano

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

var update = flag.Bool("update", false, "write the golden files anew")

func number(n int) *int { return &n }

// samples are clusters of each kind.
func samples() map[string]queues.Cluster {
	host := func(name string, switches ...string) queues.Worker {
		return queues.Worker{Name: name, GPUType: "h100", Switches: switches}
	}
	team := func(name string, id int) queues.Team {
		return queues.Team{Name: name, Namespace: name, Groups: []string{name}, UIDs: []int{id}, GIDs: []int{id}}
	}
	research, product, alone, nobody := team("research", 20001), team("product", 20002), team("alone", 20003), team("nobody", 20004)
	research.Cohort, research.Quotas = "shared", []queues.Quota{{GPUType: "h100", Nominal: 16}}
	product.Cohort, product.Quotas = "shared", []queues.Quota{{GPUType: "h100", Nominal: 8, Borrowing: number(4), Lending: number(2)}}
	alone.Quotas = []queues.Quota{{GPUType: "h100", Nominal: 4}}
	return map[string]queues.Cluster{
		// The least: no fabric, nobody.
		"plain": {Workers: []queues.Worker{host("gpu1")}},
		// Everything that can be said: teams that lend, one alone, one without quotas,
		// under switches of different depth.
		"full": {
			ControlPlanes:   3,
			Workers:         []queues.Worker{host("a", "spine", "pod1", "leaf1"), host("b", "spine", "pod1", "leaf2"), host("c", "spine", "leaf3")},
			Teams:           []queues.Team{research, product, alone, nobody},
			PriorityClasses: []queues.PriorityClass{{Name: "low", Value: -5}, {Name: "urgent", Value: 1000, Description: "displaces others of the team"}},
		},
		// Nothing is displaced or taken back.
		"patient": {Workers: []queues.Worker{host("a")}, Teams: []queues.Team{research}, Preemption: queues.Preemption{WithinTeam: "Never", Reclaim: "Never"}},
	}
}

func TestGolden(t *testing.T) {
	for name, c := range samples() {
		objects, err := Objects(c)
		if err != nil {
			t.Fatal(err)
		}
		values, err := Values(c)
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]func() ([]byte, error){
			"objects.yaml":   func() ([]byte, error) { return kubeobject.YAML(append([]kubeobject.Object{Namespace()}, objects...)) },
			"values.yaml":    func() ([]byte, error) { return kubeobject.AsYAML(values) },
			"scheduler.yaml": func() ([]byte, error) { return kubeobject.AsYAML(Config(c)) },
		} {
			got, err := text()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "golden", name, file), string(got))
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
	}
}

// TestCheck checks that each mistake is told once, with its place.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*queues.Cluster)
		want   []string
	}{
		"fine":                        {func(*queues.Cluster) {}, nil},
		"what is wrong for any":       {func(c *queues.Cluster) { c.Teams[0].Name = "A" }, []string{"teams[0].name"}},
		"two types":                   {func(c *queues.Cluster) { c.Workers[0].GPUType = "l40s" }, []string{"workers"}},
		"by age":                      {func(c *queues.Cluster) { c.Preemption.WithinTeam = "LowerOrNewerEqualPriority" }, []string{"preemption.withinTeam"}},
		"by priority":                 {func(c *queues.Cluster) { c.Preemption.Reclaim = "LowerPriority" }, []string{"preemption.reclaim"}},
		"by weight":                   {func(c *queues.Cluster) { c.Teams[0].Weight = 2 }, []string{"teams[0].weight"}},
		"a queue of Volcano's":        {func(c *queues.Cluster) { c.Teams[2].Name, c.Teams[3].Cohort = "default", "root" }, []string{"teams[2].name", "teams[3].cohort"}},
		"a team and a cohort":         {func(c *queues.Cluster) { c.Teams[2].Name = "shared" }, []string{"teams[2].name"}},
		"a switch that is no name":    {func(c *queues.Cluster) { c.Workers[2].Switches = []string{"spine", "Leaf_3"} }, []string{"workers[2].switches[1]"}},
		"a switch with a dot is fine": {func(c *queues.Cluster) { c.Workers[2].Switches = []string{"spine", "leaf.3"} }, nil},
	} {
		cluster := samples()["full"]
		c.change(&cluster)
		var got []string
		for _, p := range Check(cluster) {
			got = append(got, p.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: problems at %q, want %q", name, got, c.want)
		}
		_, objects := Objects(cluster)
		if _, values := Values(cluster); (objects != nil) != (len(c.want) > 0) || (values != nil) != (len(c.want) > 0) {
			t.Errorf("%s: objects fail with %v, values with %v", name, objects, values)
		}
	}
}

// TestQueuesAreATree checks what Volcano's own webhook asks of queues: what is
// guaranteed is deserved, what is deserved is allowed, and the queues below have no
// more than the one above.
func TestQueuesAreATree(t *testing.T) {
	for name, c := range samples() {
		objects, err := Objects(c)
		if err != nil {
			t.Fatal(err)
		}
		count := func(of map[string]string) int { return parse(t, of[gpuResource]) }
		specs := map[string]QueueSpec{}
		sums := map[string][2]int{}
		for _, o := range objects {
			spec, ok := o.Spec.(QueueSpec)
			if !ok {
				continue
			}
			specs[o.Metadata.Name] = spec
			guaranteed, deserved, most := count(spec.Guarantee.Resource), count(spec.Deserved), count(spec.Capability)
			if guaranteed > deserved || deserved > most {
				t.Errorf("%s: %s has %+v", name, o.ID(), spec)
			}
			if spec.Parent == rootQueue {
				continue
			}
			above, there := specs[spec.Parent]
			if !there || most > count(above.Capability) {
				t.Errorf("%s: %s comes before the one above, or has more", name, o.ID())
			}
			sum := sums[spec.Parent]
			sums[spec.Parent] = [2]int{sum[0] + guaranteed, sum[1] + deserved}
		}
		for parent, sum := range sums {
			if sum[0] > count(specs[parent].Guarantee.Resource) || sum[1] > count(specs[parent].Deserved) {
				t.Errorf("%s: the queues below %s have %v together", name, parent, sum)
			}
		}
	}
}

func parse(t *testing.T, text string) int {
	t.Helper()
	n := 0
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			t.Fatalf("%q is no number", text)
		}
		n = n*10 + int(digit-'0')
	}
	return n
}
