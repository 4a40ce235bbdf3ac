package strictyaml

import "testing"

func TestPaths(t *testing.T) {
	for _, c := range []struct{ parent, key, want string }{
		{"", "slurm", "slurm"},
		{"slurm", "qos", "slurm.qos"},
		{"slurm.extra", "slurm.conf", `slurm.extra["slurm.conf"]`},
		{"", "a b", `["a b"]`},
		{"x", `q"]["`, `x["q\"][\""]`},
		{"x", "", `x[""]`},
	} {
		got := Child(c.parent, c.key)
		if got != c.want {
			t.Errorf("Child(%q, %q) = %s, want %s", c.parent, c.key, got, c.want)
		}
		if back := Parent(got); back != c.parent {
			t.Errorf("Parent(%s) = %q, want %q", got, back, c.parent)
		}
	}
	if got := Item("hosts", 12); got != "hosts[12]" || Parent(got) != "hosts" {
		t.Errorf("Item = %s, its parent %s", got, Parent(got))
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, outer string
		want        bool
	}{
		{"hosts[0].names", "hosts", true}, {"hosts", "hosts", true}, {"hosts", "", true},
		{"hostsmore", "hosts", false}, {"hosts[1]", "hosts[10]", false}, {"hosts[10]", "hosts[1]", false},
	} {
		if got := Within(c.path, c.outer); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.path, c.outer, got)
		}
	}
}
