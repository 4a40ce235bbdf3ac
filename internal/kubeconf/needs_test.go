package kubeconf

import (
	"io/fs"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/ansible"
	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// TestImagesOfALab checks that the store of a lab has each image that its
// clusters are told to pull.
func TestImagesOfALab(t *testing.T) {
	c := samples()["lab"]
	for _, c.Version = range []string{artifacts.KubernetesVersion, artifacts.NextKubernetesVersion} {
		for _, name := range c.ImageNames() {
			if !slices.ContainsFunc(artifacts.Lab.Images, func(i artifacts.Image) bool { return i.Name == name }) {
				t.Errorf("the store has no %s", name)
			}
		}
	}
}

func TestImageNames(t *testing.T) {
	for version, want := range map[string][]string{
		"v1.36.3": {"registry.k8s.io/etcd:3.6.8-0", "registry.k8s.io/coredns/coredns:v1.14.2", "registry.k8s.io/kube-proxy:v1.36.3"},
		"v1.37.2": {"registry.k8s.io/etcd:3.7.0-0", "registry.k8s.io/coredns/coredns:v1.14.6", "registry.k8s.io/kube-apiserver:v1.37.2"},
		"v1.99.0": {"registry.k8s.io/etcd", "registry.k8s.io/coredns/coredns"},
		"":        {"registry.k8s.io/etcd"},
	} {
		got := Cluster{Version: version}.ImageNames()
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s needs %q, and not %s", version, got, name)
			}
		}
	}
}

// TestListsAreTheRoles checks that what is listed is what is installed.
func TestListsAreTheRoles(t *testing.T) {
	var tasks []struct {
		Packages struct {
			Names []string `yaml:"names"`
		} `yaml:"gpucluster.host.packages"`
	}
	var defaults struct {
		Binaries []string `yaml:"kubernetes_node_binaries"`
	}
	for path, into := range map[string]any{"tasks": &tasks, "defaults": &defaults} {
		text, err := fs.ReadFile(ansible.FS, "roles/kubernetes_node/"+path+"/main.yml")
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	var packages []string
	for _, task := range tasks {
		packages = append(packages, task.Packages.Names...)
	}
	if !slices.Equal(packages, Cluster{Endpoint: LocalEndpoint}.PackageNames()) || !slices.Equal(defaults.Binaries, Binaries) {
		t.Errorf("the role has %q and %q, and %q and %q are listed", packages, defaults.Binaries, Packages, Binaries)
	}
}
