package kubeconf

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path"
	"regexp"
	"strings"
	"text/template"

	"github.com/gpucluster/pulumi-gpucluster/templates"
)

// mirrored are the registries whose images clusters of GPU hosts are made of.
var mirrored = []string{"docker.io", "ghcr.io", "nvcr.io", "quay.io", "registry.k8s.io"}

// nodeData is what a template of one host is given.
type nodeData struct {
	Cluster
	Node Node
	// Taints are all that the node registers with.
	Taints []Taint
	// ControlPlane tells a control plane from a worker.
	ControlPlane bool
}

// Render writes the file set of a cluster. A cluster with problems is not
// rendered: the error is then the [problem.List] that [Check] reports.
func Render(c Cluster) (FileSet, error) {
	if problems := Check(c); len(problems) > 0 {
		return FileSet{}, problems
	}
	c = c.withDefaults()
	w := &writer{}
	set := FileSet{Host: map[string][]File{}, first: c.ControlPlanes[0].Name}
	set.Node = []File{
		w.file("/etc/containerd/config.toml", "containerd.toml", c),
		w.file("/etc/modules-load.d/gpucluster-kubernetes.conf", "modules.conf", c),
		w.file(SysctlPath, "sysctl.conf", c),
		w.file(cniTemplate, "cni.conflist", c),
		w.file("/etc/systemd/system/containerd.service.d/gpucluster.conf", "containerd.service.conf", c),
		w.file("/usr/local/lib/systemd/system/kubelet.service", "kubelet.service", c),
	}
	set.Node = append(set.Node, w.balancer(c)...)
	if c.Registry != "" {
		for _, name := range mirrored {
			set.Node = append(set.Node, w.file("/etc/containerd/certs.d/"+name+"/hosts.toml", "hosts.toml", c))
		}
	}
	for i, n := range c.ControlPlanes {
		data := nodeData{Cluster: c, Node: n, Taints: append([]Taint{controlPlaneTaint}, n.Taints...), ControlPlane: true}
		set.Host[n.Name] = w.host(data)
		if i == 0 {
			set.Begin = []File{w.file(InitPath, "init.yaml", data)}
		}
		// The first of several joins too, when it was lost and comes back.
		if len(c.ControlPlanes) > 1 || c.Balanced() {
			set.Host[n.Name] = append(set.Host[n.Name], w.file(JoinPath, "join.yaml", data))
		}
	}
	for _, n := range c.Workers {
		data := nodeData{Cluster: c, Node: n, Taints: append([]Taint{ValidatingTaint}, n.Taints...)}
		set.Host[n.Name] = append(w.host(data), w.file(JoinPath, "join.yaml", data))
	}
	if c.Overrides.NoUpstreamDNS {
		set.Objects = append(set.Objects, w.file(manifestDir+"/10-coredns.yaml", "coredns.yaml", c))
	}
	host, port, _ := c.endpoint()
	set.Objects = append(set.Objects, w.file(manifestDir+"/20-pod-network.yaml", "pod-network.yaml", struct {
		Cluster
		Host string
		Port int
	}{c, host, port}))
	set.Objects = append(set.Objects, w.file(manifestDir+"/30-namespace.yaml", "namespace.yaml", c))
	if c.Images.SimulatedGPUs != "" {
		set.Objects = append(set.Objects, w.file(manifestDir+"/40-simulated-gpus.yaml", "simulated-gpus.yaml", c))
	}
	if c.Images.MetricsServer != "" {
		set.Objects = append(set.Objects, w.file(manifestDir+"/50-metrics-server.yaml", "metrics-server.yaml", c))
	}
	return set, w.err
}

// writer renders templates and keeps the first error, which only a mistake in a
// template can be.
type writer struct{ err error }

// host renders what a host of any kind reads alone.
func (w *writer) host(data nodeData) []File {
	if data.Node.Reserved == (Reserved{}) {
		return nil
	}
	return []File{w.file(patchesDir+"/kubeletconfiguration+merge.yaml", "kubelet-patch.yaml", data)}
}

var fileTemplates = template.Must(template.New("").Option("missingkey=error").Funcs(template.FuncMap{
	"header": func() string { return "" }, "args": nodeArgs,
	"sysctl": func() string { return SysctlPath }, "discovery": func() string { return DiscoveryPath },
	"endpoint": func() string { return LocalEndpoint }, "balancer": func() string { return BalancerPath }, "unit": func() string { return BalancerUnit },
}).ParseFS(templates.FS, "kubernetes/*.tmpl"))

var blankLines = regexp.MustCompile(`\n{3,}`)

func (w *writer) file(at, name string, data any) File {
	t, err := fileTemplates.Clone()
	var b bytes.Buffer
	if err == nil {
		err = t.Funcs(template.FuncMap{"header": func() string { return header(path.Base(at)) }}).ExecuteTemplate(&b, name+".tmpl", data)
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("writing %s: %w", at, err)
	}
	return File{Path: at, Content: strings.TrimSpace(blankLines.ReplaceAllString(b.String(), "\n\n")) + "\n"}
}

// argument is one of kubelet's.
type argument struct{ Name, Value string }

// nodeArgs are kubelet's arguments on a node, sorted by name.
func nodeArgs(n Node) []argument {
	var args []argument
	if n.Address != "" {
		args = append(args, argument{"node-ip", n.Address})
	}
	if len(n.Labels) > 0 {
		args = append(args, argument{"node-labels", joinSorted(n.Labels)})
	}
	return args
}

// Discovery writes the file by which a host finds the cluster, knows it for the
// right one and is let in: the cluster's own certificate authority, as PEM, and a
// bootstrap token. It is a secret as long as the token lives.
func Discovery(endpoint, authority, token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: cluster
  cluster:
    server: https://%s
    certificate-authority-data: %s
users:
- name: joining
  user:
    token: %q
contexts:
- name: joining
  context:
    cluster: cluster
    user: joining
current-context: joining
`, endpoint, base64.StdEncoding.EncodeToString([]byte(authority)), token)
}
