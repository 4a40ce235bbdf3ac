package topology

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

func names(expr string) []string {
	out, err := hostlist.Expand(expr)
	if err != nil {
		panic(err)
	}
	return out
}

func leaf(name, nodes string) Switch     { return Switch{Name: name, Nodes: names(nodes)} }
func spine(name, switches string) Switch { return Switch{Name: name, Switches: names(switches)} }
func chain(levels int) (out []Switch) {
	for i := range levels - 1 {
		out = append(out, spine(fmt.Sprintf("s%d", i), fmt.Sprintf("s%d", i+1)))
	}
	return append(out, leaf(fmt.Sprintf("s%d", levels-1), "n[1-4]"))
}

func TestCheck(t *testing.T) {
	type want struct {
		at    int
		field string
		says  string
		only  Severity
	}
	cases := map[string]struct {
		switches []Switch
		want     []want
	}{
		"none":             {nil, nil},
		"one leaf":         {[]Switch{leaf("s", "n[1-4]")}, nil},
		"two levels":       {[]Switch{spine("top", "l[1-2]"), leaf("l1", "n[1-2]"), leaf("l2", "n[3-4]")}, nil},
		"deep enough":      {chain(MaxDepth), nil},
		"empty leaf":       {[]Switch{spine("top", "l[1-2]"), leaf("l1", "n[1-4]"), leaf("l2", "")}, nil},
		"too deep":         {chain(MaxDepth + 1), []want{{20, "name", "21 levels", Error}}},
		"bad name":         {[]Switch{{Name: "a b", Nodes: names("n[1-4]")}}, []want{{0, "name", "a b", Error}}},
		"long number":      {[]Switch{leaf("a12345678901234567890", "n[1-4]")}, []want{{0, "name", "too long", Error}}},
		"name twice":       {[]Switch{leaf("s", "n[1-2]"), leaf("s", "n[3-4]")}, []want{{1, "name", "switches[0]", Error}}},
		"nodes and more":   {[]Switch{{Name: "h", Nodes: names("n[1-2]"), Switches: names("l")}, leaf("l", "n[3-4]")}, []want{{0, "switches", "both", Error}}},
		"unknown node":     {[]Switch{leaf("s", "n[1-5]")}, []want{{0, "nodes", `"n5"`, Error}}},
		"node in two":      {[]Switch{spine("t", "a,b"), leaf("a", "n[1-4]"), leaf("b", "n4")}, []want{{2, "nodes", `under "a"`, Error}}},
		"below itself":     {[]Switch{spine("t", "t,l"), leaf("l", "n[1-4]")}, []want{{0, "switches", "below itself", Error}}},
		"unknown child":    {[]Switch{spine("t", "l,leaf2"), leaf("l", "n[1-2]"), leaf("leaf1", "n[3-4]")}, []want{{0, "switches", `"leaf2"`, Error}}},
		"two parents":      {[]Switch{spine("t", "a,b"), spine("a", "l"), spine("b", "l"), leaf("l", "n[1-4]")}, []want{{2, "switches", `below "a"`, Error}}},
		"cycle":            {[]Switch{spine("a", "b"), spine("b", "a"), leaf("l", "n[1-4]")}, []want{{0, "switches", "below itself", Error}}},
		"longer cycle":     {[]Switch{leaf("l", "n[1-4]"), spine("a", "b"), spine("b", "c"), spine("c", "a")}, []want{{1, "switches", "below itself", Error}}},
		"nodes left out":   {[]Switch{leaf("s", "n[1-2]")}, []want{{-1, "", "n[3-4]", Error}}},
		"all nodes out":    {[]Switch{spine("t", "l"), leaf("l", "")}, []want{{-1, "", "no node", Error}}},
		"separate fabrics": {[]Switch{leaf("a", "n[1-2]"), leaf("b", "n[3-4]")}, []want{{-1, "", "a, b", Advice}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Check(c.switches, names("n[1-4]"))
			if len(got) != len(c.want) {
				t.Fatalf("%d problems; want %d: %+v", len(got), len(c.want), got)
			}
			for i, w := range c.want {
				p := got[i]
				if p.Switch != w.at || p.Field != w.field || !strings.Contains(p.What, w.says) || p.Severity != w.only || p.Hint == "" {
					t.Errorf("problem %d: %+v; want %+v and a hint", i, p, w)
				}
			}
		})
	}
}

func TestUnknownChildNamesTheNearest(t *testing.T) {
	got := Check([]Switch{spine("t", "Leaf1"), leaf("leaf1", "n[1-4]")}, names("n[1-4]"))
	if len(got) == 0 || !strings.Contains(got[0].Hint, `did you mean "leaf1"`) {
		t.Errorf("%+v", got)
	}
}

func TestText(t *testing.T) {
	cases := map[string]struct {
		switches []Switch
		want     string
	}{
		"nothing": {nil, ""},
		"no node": {[]Switch{spine("t", "l"), leaf("l", "")}, ""},
		"leaves first, by name": {
			[]Switch{spine("top", "m[1-2]"), spine("m2", "l3"), spine("m1", "l[1-2],l10"), leaf("l10", "n10"), leaf("l2", "n2"), leaf("l1", "n[1,3]"), leaf("l3", "n4")},
			"SwitchName=l1 Nodes=n[1,3]\nSwitchName=l2 Nodes=n2\nSwitchName=l3 Nodes=n4\nSwitchName=l10 Nodes=n10\n" +
				"SwitchName=m1 Switches=l[1-2,10]\nSwitchName=m2 Switches=l3\nSwitchName=top Switches=m[1-2]\n",
		},
		"empty ones pruned": {
			[]Switch{spine("top", "a,b"), spine("a", "l1"), spine("b", "l2"), leaf("l1", "n1"), leaf("l2", "")},
			"SwitchName=l1 Nodes=n1\nSwitchName=a Switches=l1\nSwitchName=top Switches=a\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Text(c.switches); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestPruneEndsOnCycles: what is no tree is reported by Check; pruning it must
// not run for ever.
func TestPruneEndsOnCycles(t *testing.T) {
	in := []Switch{spine("a", "b"), spine("b", "a,l"), leaf("l", "n1")}
	if got := Prune(in); len(got) == 0 || len(got) > len(in) {
		t.Errorf("Prune = %+v", got)
	}
	if text := Text(in); !strings.Contains(text, "SwitchName=l Nodes=n1") {
		t.Error(text)
	}
}

func BenchmarkCheck10240(b *testing.B) {
	nodes := names("n[00001-10240]")
	switches := []Switch{{Name: "top"}}
	for i := 0; i < len(nodes); i += 40 {
		name := fmt.Sprintf("leaf%03d", i/40)
		switches = append(switches, Switch{Name: name, Nodes: nodes[i : i+40]})
		switches[0].Switches = append(switches[0].Switches, name)
	}
	b.ReportAllocs()
	for b.Loop() {
		if p := Check(switches, nodes); len(p) > 0 {
			b.Fatal(p)
		}
	}
}
