package queues

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCheck checks that each mistake is told once, with its place.
func TestCheck(t *testing.T) {
	quota := func(c *Cluster) *Quota { return &c.Teams[0].Quotas[0] }
	for name, c := range map[string]struct {
		change func(*Cluster)
		want   []string
	}{
		"fine":                   {func(*Cluster) {}, nil},
		"no workers":             {func(c *Cluster) { c.Workers, c.Teams = nil, nil }, []string{"workers"}},
		"a name of no label":     {func(c *Cluster) { c.Teams[0].Name = "Research" }, []string{"teams[0].name"}},
		"two of a name":          {func(c *Cluster) { c.Teams[1].Name = "research" }, []string{"teams[1].name"}},
		"a shared namespace":     {func(c *Cluster) { c.Teams[1].Namespace = "research" }, []string{"teams[1].namespace"}},
		"the system's namespace": {func(c *Cluster) { c.Teams[1].Namespace = "kube-system" }, []string{"teams[1].namespace"}},
		"Kueue's namespace":      {func(c *Cluster) { c.Teams[1].Namespace = ManagerNamespace }, []string{"teams[1].namespace"}},
		"a cohort of no label":   {func(c *Cluster) { c.Teams[0].Cohort = "a b" }, []string{"teams[0].cohort"}},
		"a negative weight":      {func(c *Cluster) { c.Teams[0].Weight = -1 }, []string{"teams[0].weight"}},
		"root":                   {func(c *Cluster) { c.Teams[0].UIDs, c.Teams[0].GIDs = []int{5, 0}, []int{-1} }, []string{"teams[0].uids[1]", "teams[0].gids[0]"}},
		"an unknown type":        {func(c *Cluster) { quota(c).GPUType = "b200" }, []string{"teams[0].quotas[0].gpuType"}},
		"the type of no GPU":     {func(c *Cluster) { quota(c).GPUType = NoGPU }, []string{"teams[0].quotas[0].gpuType"}},
		"a type twice": {func(c *Cluster) { c.Teams[0].Quotas = append(c.Teams[0].Quotas, c.Teams[0].Quotas[0]) },
			[]string{"teams[0].quotas[1].gpuType"}},
		"negative quotas": {func(c *Cluster) { *quota(c) = Quota{"h100", -1, number(-1), number(-2)} },
			[]string{"teams[0].quotas[0].nominal", "teams[0].quotas[0].borrowing", "teams[0].quotas[0].lending"}},
		"more lent than owned": {func(c *Cluster) { quota(c).Lending = number(17) }, []string{"teams[0].quotas[0].lending"}},
		"limits without a cohort": {func(c *Cluster) { c.Teams[0].Cohort = ""; quota(c).Borrowing, quota(c).Lending = number(1), number(1) },
			[]string{"teams[0].quotas[0].borrowing", "teams[0].quotas[0].lending"}},
		"a type of no label":     {func(c *Cluster) { c.Workers[0].GPUType = "H_100" }, []string{"workers[0].gpuType"}},
		"a host without a place": {func(c *Cluster) { c.Workers[1].Switches = nil }, []string{"workers[1].switches"}},
		"a switch of no label":   {func(c *Cluster) { c.Workers[2].Switches = []string{"a", "b c"} }, []string{"workers[2].switches[1]"}},
		"too many levels": {func(c *Cluster) {
			for i := range c.Workers {
				c.Workers[i].Switches = strings.Fields(strings.Repeat("s ", maxLevels))
			}
		}, []string{"workers"}},
		"too many taints": {func(c *Cluster) {
			for i := range c.Workers {
				for n := range maxNodeTaints + 1 {
					c.Workers[i].Taints = append(c.Workers[i].Taints, Taint{Key: fmt.Sprintf("t%d", n), Effect: "NoSchedule"})
				}
			}
		}, []string{"workers"}},
		"too many types": {func(c *Cluster) {
			for n := range maxFlavors {
				c.Workers = append(c.Workers, Worker{Name: "w", GPUType: fmt.Sprintf("t%d", n), Switches: []string{"a"}})
			}
		}, []string{"workers"}},
		"priorities": {func(c *Cluster) {
			c.PriorityClasses = []PriorityClass{{Name: "a", Value: 2e9}, {Name: "a"}, {Name: ""}}
		}, []string{"priorityClasses[0].value", "priorityClasses[1].name", "priorityClasses[2].name"}},
		"words":     {func(c *Cluster) { c.Preemption = Preemption{"never", "all"} }, []string{"preemption.withinTeam", "preemption.reclaim"}},
		"no time":   {func(c *Cluster) { c.ReadyTimeout = "10" }, []string{"readyTimeout"}},
		"time back": {func(c *Cluster) { c.ReadyTimeout = "-1m" }, []string{"readyTimeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := samples()["lab"]
			c.change(&cluster)
			problems := Check(cluster)
			var got []string
			for _, p := range problems {
				got = append(got, p.Path)
				if p.What == "" || !strings.HasPrefix(p.String(), p.Path+": "+p.What) {
					t.Errorf("the problem %q says nothing", p)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("problems %q, want them at %q", problems, c.want)
			}
			_, objects := Objects(cluster)
			_, values := Values(cluster)
			if (objects != nil) != (len(c.want) > 0) || (values != nil) != (len(c.want) > 0) || objects != nil && objects.Error() != problems.Error() {
				t.Errorf("objects fail with %v, values with %v", objects, values)
			}
		})
	}
}
