package artifacts

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const toolsFolder = "../../tools"

// pinned reads the version that a tool set pins of a module.
func pinned(t *testing.T, set, pins, module string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(toolsFolder, set, cmp.Or(pins, "go")+".mod"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "require "))
		if len(fields) >= 2 && fields[0] == module && fields[1] != "=>" {
			return fields[1]
		}
	}
	return ""
}

// TestVersionsAreThosePinned checks the table against the go.mod of each set.
func TestVersionsAreThosePinned(t *testing.T) {
	for _, p := range slices.Concat(Lab.Programs, Tests.Programs) {
		if p.Module == "" {
			if _, err := os.Stat(filepath.Join(toolsFolder, p.Set, "main.go")); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			continue
		}
		if got := pinned(t, p.Set, p.Pins, p.Module); got != p.Version {
			t.Errorf("%s: the pins of tools/%s are of %s %q, the table says %q", p.Name, p.Set, p.Module, got, p.Version)
		}
	}
	for _, c := range Lab.Charts {
		if got := pinned(t, c.Set, "", c.Module); got != "v"+c.Version {
			t.Errorf("the chart %s: tools/%s/go.mod pins %q, the table says %q", c.Name, c.Set, got, c.Version)
		}
	}
}

// TestTableIsWhole checks that what is named is there, once.
func TestTableIsWhole(t *testing.T) {
	programs := map[string]bool{}
	for _, p := range Lab.Programs {
		if programs[p.Name] || p.Set == "" || p.Package == "" || p.About == "" {
			t.Errorf("the program %+v is there twice or lacks something", p)
		}
		programs[p.Name] = true
	}
	name := regexp.MustCompile(`^[a-z0-9.]+(:[0-9]+)?(/[a-z0-9-]+)+:[a-zA-Z0-9._-]+$`)
	var images, layers []string
	for _, i := range Lab.Images {
		if !name.MatchString(i.Name) || len(i.Entrypoint) == 0 {
			t.Errorf("the image %q has no good name or does not say what it runs", i.Name)
		}
		images = append(images, i.Repository()+":"+i.Tag())
		for _, l := range i.Layers {
			layers = append(layers, l.Program)
			if !programs[l.Program] || !filepath.IsAbs(l.Path) {
				t.Errorf("the image %s has a layer %+v", i.Name, l)
			}
		}
	}
	slices.Sort(images)
	if len(slices.Compact(slices.Clone(images))) != len(images) {
		t.Errorf("two images are asked for in the same way: %q", images)
	}
	for _, b := range Lab.Binaries {
		layers = append(layers, b.Program)
		if !programs[b.Program] {
			t.Errorf("the binary %s is of the unknown program %q", b.Name, b.Program)
		}
	}
	for p := range programs {
		if !slices.Contains(layers, p) {
			t.Errorf("nothing uses the program %s", p)
		}
	}
}

func TestNamesOfImages(t *testing.T) {
	for name, want := range map[string][3]string{
		"registry.k8s.io/coredns/coredns:v1.14.2": {"registry.k8s.io", "coredns/coredns", "v1.14.2"},
		"registry.k8s.io/pause:3.10.2":            {"registry.k8s.io", "pause", "3.10.2"},
		"mirror:5000/gpucluster/device-plugin:1":  {"mirror:5000", "gpucluster/device-plugin", "1"},
	} {
		i := Image{Name: name}
		if got := [3]string{i.Registry(), i.Repository(), i.Tag()}; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestKubernetesSaysItsVersion(t *testing.T) {
	stamps := kubernetesStamps("v1.36.3")
	for name, want := range map[string]string{
		"k8s.io/component-base/version.gitVersion": "v1.36.3",
		"k8s.io/client-go/pkg/version.gitMajor":    "1",
		"k8s.io/client-go/pkg/version.gitMinor":    "36",
	} {
		if stamps[name] != want {
			t.Errorf("%s is %q, want %q", name, stamps[name], want)
		}
	}
}

func TestStoreCanBeElsewhere(t *testing.T) {
	t.Setenv(StoreVariable, "")
	if got := DefaultStore(); got != "/var/cache/gpucluster/artifacts" {
		t.Errorf("the store is %s", got)
	}
	t.Setenv(StoreVariable, "/elsewhere")
	if got := DefaultStore(); got != "/elsewhere" {
		t.Errorf("the store is %s where the variable says /elsewhere", got)
	}
}
