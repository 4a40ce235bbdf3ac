package gpuoperator

import (
	"slices"
	"testing"
)

// TestCheck checks that each mistake is told once, with its place.
func TestCheck(t *testing.T) {
	worker := func(c *Cluster) *Worker { return &c.Workers[0] }
	for name, c := range map[string]struct {
		change func(*Cluster)
		want   []string
	}{
		"fine":                        {func(*Cluster) {}, nil},
		"no hosts":                    {func(c *Cluster) { c.Workers = nil }, []string{"workers"}},
		"a version of the hosts' own": {func(c *Cluster) { c.Driver.Version = "1" }, []string{"driver"}},
		"a module of the hosts' own":  {func(c *Cluster) { c.Driver.KernelModule = "open" }, []string{"driver"}},
		"nobody's discovery":          {func(c *Cluster) { c.NodeFeatures = FeaturesNetwork }, []string{"nodeFeatures"}},
		"labels of nothing":           {func(c *Cluster) { c.MonitorLabels = map[string]string{"a": "b"} }, []string{"monitorLabels"}},
		"a slice":                     {func(c *Cluster) { worker(c).Slice = "1g.10gb" }, nil},
		"of another type's size":      {func(c *Cluster) { worker(c).Slice = "1g.18gb" }, []string{"workers[0].slice"}},
		"of what cannot be cut":       {func(c *Cluster) { worker(c).GPUType, worker(c).Slice = "l40s", "1g.10gb" }, []string{"workers[0].slice"}},
		"of what nobody knows":        {func(c *Cluster) { worker(c).GPUType, worker(c).Slice = "x1", "1g.10gb" }, []string{"workers[0].slice"}},
		"by its size":                 {func(c *Cluster) { worker(c).GPUType, worker(c).Slice, c.MixedMIG = "x1", "1g.10gb", true }, nil},
		"cut and shared":              {func(c *Cluster) { worker(c).Slice, worker(c).Shares = "1g.10gb", 2 }, []string{"workers[0].shares"}},
		"claims":                      {func(c *Cluster) { c.DRA = true }, nil},
		"claims without CDI":          {func(c *Cluster) { c.DRA, c.WithoutCDI = true, true }, []string{"withoutCDI"}},
		"claims of shares":            {func(c *Cluster) { c.DRA = true; worker(c).Shares = 2 }, []string{"workers[0]"}},
		"claims of slices":            {func(c *Cluster) { c.DRA = true; worker(c).Slice = "1g.10gb" }, []string{"workers[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := samples()["plain"]
			c.change(&cluster)
			problems := Check(cluster)
			var got []string
			for _, p := range problems {
				got = append(got, p.Path)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("problems %q, want them at %q", problems, c.want)
			}
			for what, render := range map[string]func(Cluster) error{
				"values":  func(c Cluster) error { _, err := Values(c); return err },
				"network": func(c Cluster) error { _, err := NetworkValues(c); return err },
				"objects": func(c Cluster) error { _, err := Objects(c); return err },
			} {
				if err := render(cluster); (err != nil) != (len(c.want) > 0) || err != nil && err.Error() != problems.Error() {
					t.Errorf("%s fail with %v", what, err)
				}
			}
		})
	}
}

// TestTypesThatCanBeCut checks that a type's name is not taken for another model's.
func TestTypesThatCanBeCut(t *testing.T) {
	for gpuType, want := range map[string]int{"h100": 7, "h100-80gb": 7, "h100_sxm": 7, "h1000": 0, "a100": 7, "a100-40gb": 4, "a10": 0, "": 0, "l40s": 0} {
		if got := slicesOf(gpuType)["1g.10gb"]; got != want {
			t.Errorf("%q has %d slices of 1g.10gb, want %d", gpuType, got, want)
		}
	}
	for gpuType, want := range map[string]bool{"a10": true, "a100": false, "l4": true, "l40s": true, "t4-16gb": true, "h100": false, "rtx-6000": true} {
		if got := cannotBeCut(gpuType); got != want {
			t.Errorf("%q cannot be cut: %v", gpuType, got)
		}
	}
	for _, m := range models {
		if cannotBeCut(m.prefix) {
			t.Errorf("%s can be cut and cannot", m.prefix)
		}
		for size, n := range m.slices {
			if n < 1 || n > 7 || size == "" {
				t.Errorf("%s has %d of %q", m.prefix, n, size)
			}
		}
	}
}
