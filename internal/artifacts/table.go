package artifacts

import (
	"slices"
	"strings"
)

// The versions that the lab has. The pins of each tool set are the same ones; a
// test compares.
const (
	// KubernetesVersion is the release that new clusters are usually made of,
	// with the etcd and the CoreDNS that its kubeadm chooses.
	KubernetesVersion = "v1.36.3"
	EtcdVersion       = "v3.6.8"
	CoreDNSVersion    = "v1.14.2"
	// NextKubernetesVersion is the release to which they can be upgraded, with
	// what its kubeadm chooses.
	NextKubernetesVersion = "v1.37.2"
	NextEtcdVersion       = "v3.7.0"
	NextCoreDNSVersion    = "v1.14.6"

	FlannelVersion = "v0.28.4"
	KueueVersion   = "v0.17.0"
	JobSetVersion  = "v0.11.1"
	// LeaderWorkerSetVersion is that of its module, sigs.k8s.io/lws.
	LeaderWorkerSetVersion = "v0.8.0"
	// MetricsServerVersion is the metrics-server that belongs to these releases of
	// Kubernetes.
	MetricsServerVersion = "v0.9.0"
	KwokVersion          = "v0.8.0"
	// PauseVersion is the sandbox image that this Kubernetes names; ours does the same.
	PauseVersion = "3.10.2"
	// DevicePluginVersion goes up when what the device plugin does changes.
	DevicePluginVersion = "v1"
	// GPUCheckVersion goes up when what the check of a container's GPUs does changes.
	GPUCheckVersion = "v3"
)

// Images of our own.
const (
	// DevicePluginImage tells a kubelet of the lab about its host's simulated GPUs.
	DevicePluginImage = "ghcr.io/gpucluster/device-plugin:" + DevicePluginVersion
	// GPUCheckImage lists the simulated GPUs of its container as nvidia-smi -L does; as gpu-check -serve it does so over HTTP,
	// after as much work as it is asked to do.
	GPUCheckImage = "ghcr.io/gpucluster/gpu-check:" + GPUCheckVersion
)

// Program is one static binary.
type Program struct {
	// Name is how images and binaries of the table refer to it.
	Name string
	// Set is the folder in tools/ with the go.mod that pins it.
	Set string
	// Pins names another file of the folder that pins it, without its ending:
	// "v1.37" is v1.37.mod with v1.37.sum. Empty: go.mod and go.sum.
	Pins string
	// Package is its main package: a path, or "." for the set's own.
	Package string
	// Module and Version are what the set pins. Empty for programs of our own.
	Module, Version string
	// C tells that C is part of it: it needs a C compiler, and static libraries.
	C bool
	// About is how long the first build takes, in words.
	About string
	// Stamps are the variables that tell the program its version.
	Stamps map[string]string
}

// Image is one container image, of layers with one program each.
type Image struct {
	// Name is the full name by which clusters ask for it.
	Name string
	// Layers name a program and where it lies.
	Layers []Layer
	// NetTables adds nft and iptables, with their libraries, of the machine that makes the image.
	NetTables bool
	// Entrypoint is what runs where the pod says nothing.
	Entrypoint []string
	// User is the uid it runs as. Default root.
	User string
}

// Repository is the image's path without registry and tag, which is how it is
// asked of whoever stands in for the registry.
func (i Image) Repository() string {
	path, _, _ := strings.Cut(i.Name, ":"+i.Tag())
	_, repository, _ := strings.Cut(path, "/")
	return repository
}

// Tag is the image's tag.
func (i Image) Tag() string { return i.Name[strings.LastIndex(i.Name, ":")+1:] }

// Registry is the host in the image's name.
func (i Image) Registry() string {
	registry, _, _ := strings.Cut(i.Name, "/")
	return registry
}

// Layer is one program in an image.
type Layer struct {
	// Program is the program's name in the table.
	Program string
	// Path is where it lies in the image.
	Path string
	// Links are further names for it in the same folder.
	Links []string
}

// Binary is a program that hosts run without a container.
type Binary struct {
	// Name is the file's name.
	Name string
	// Version is the folder it is in.
	Version string
	// Program is the program's name in the table.
	Program string
}

// Chart is a Helm chart out of a module's folder.
type Chart struct {
	// Name and Version make the file's name: NAME-VERSION.tgz.
	Name, Version string
	// Set and Module say where it comes from, Folder where it is in there.
	Set, Module, Folder string
	// Values are changes of lines in values.yaml, those that upstream makes when it
	// releases the chart; Metadata are those in Chart.yaml. Each old line must be
	// there.
	Values, Metadata []Replacement
}

// File is the chart's file name.
func (c Chart) File() string { return c.Name + "-" + c.Version + ".tgz" }

// Replacement is a text and what takes its place, the first time it occurs.
type Replacement struct{ Old, New string }

// Table is everything there is, in the order in which it is made.
type Table struct {
	Programs []Program
	Images   []Image
	Binaries []Binary
	Charts   []Chart
}

// kubernetesLayer has the hyper binary of Kubernetes at the same place with the
// same links in each image of a control plane, so that these images are one layer.
func kubernetesLayer(program string) []Layer {
	return []Layer{{Program: program, Path: "/usr/local/bin/kubernetes",
		Links: []string{"kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler"}}}
}

// kubernetesImages are the images of one release, with its etcd and CoreDNS.
func kubernetesImages(program, version, etcd, etcdVersion, etcdctl, coreDNS, coreDNSVersion string) []Image {
	layers := kubernetesLayer(program)
	return []Image{
		{Name: "registry.k8s.io/kube-apiserver:" + version, Layers: layers, Entrypoint: []string{"kube-apiserver"}},
		{Name: "registry.k8s.io/kube-controller-manager:" + version, Layers: layers, Entrypoint: []string{"kube-controller-manager"}},
		{Name: "registry.k8s.io/kube-scheduler:" + version, Layers: layers, Entrypoint: []string{"kube-scheduler"}},
		{Name: "registry.k8s.io/kube-proxy:" + version, Layers: layers, NetTables: true, Entrypoint: []string{"kube-proxy"}},
		{Name: "registry.k8s.io/etcd:" + strings.TrimPrefix(etcdVersion, "v") + "-0", Entrypoint: []string{"etcd"},
			Layers: []Layer{{Program: etcd, Path: "/usr/local/bin/etcd"}, {Program: etcdctl, Path: "/usr/local/bin/etcdctl"}}},
		{Name: "registry.k8s.io/coredns/coredns:" + coreDNSVersion, Layers: []Layer{{Program: coreDNS, Path: "/coredns"}}, Entrypoint: []string{"/coredns"}},
	}
}

// kubernetesBinaries are what hosts run of a release without a container.
func kubernetesBinaries(program, version string) []Binary {
	return []Binary{
		{Name: "kubeadm", Version: version, Program: program},
		{Name: "kubectl", Version: version, Program: program},
		{Name: "kubelet", Version: version, Program: program},
	}
}

// Lab is what the lab's clusters need.
var Lab = Table{
	Programs: []Program{
		{Name: "kubernetes", Set: "kubernetes", Package: ".", Module: "k8s.io/kubernetes", Version: KubernetesVersion,
			About: "5 min", Stamps: kubernetesStamps(KubernetesVersion)},
		{Name: "etcd", Set: "etcd", Package: "go.etcd.io/etcd/server/v3", Module: "go.etcd.io/etcd/server/v3", Version: EtcdVersion, About: "30 s"},
		{Name: "etcdctl", Set: "etcd", Package: "go.etcd.io/etcd/etcdctl/v3", Module: "go.etcd.io/etcd/etcdctl/v3", Version: EtcdVersion, About: "5 s"},
		{Name: "pause", Set: "pause", Package: ".", About: "1 s"},
		{Name: "device-plugin", Set: "device-plugin", Package: ".", About: "10 s"},
		{Name: "coredns", Set: "coredns", Package: "github.com/coredns/coredns", Module: "github.com/coredns/coredns", Version: CoreDNSVersion, About: "90 s"},
		{Name: "flannel", Set: "flannel", Package: "github.com/flannel-io/flannel", Module: "github.com/flannel-io/flannel", Version: FlannelVersion, C: true,
			About: "2 min", Stamps: map[string]string{"github.com/flannel-io/flannel/pkg/version.Version": FlannelVersion}},
		{Name: "kueue", Set: "kueue", Package: "sigs.k8s.io/kueue/cmd/kueue", Module: "sigs.k8s.io/kueue", Version: KueueVersion, About: "4 min",
			Stamps: map[string]string{"sigs.k8s.io/kueue/pkg/version.GitVersion": KueueVersion}},
		{Name: "jobset", Set: "jobset", Package: "sigs.k8s.io/jobset", Module: "sigs.k8s.io/jobset", Version: JobSetVersion, About: "2 min",
			Stamps: map[string]string{"sigs.k8s.io/jobset/pkg/version.GitVersion": JobSetVersion}},
		{Name: "lws", Set: "lws", Package: "sigs.k8s.io/lws/cmd", Module: "sigs.k8s.io/lws", Version: LeaderWorkerSetVersion, About: "2 min",
			Stamps: map[string]string{"sigs.k8s.io/lws/pkg/version.GitVersion": LeaderWorkerSetVersion}},
		{Name: "metrics-server", Set: "metrics-server", Package: "sigs.k8s.io/metrics-server/cmd/metrics-server", Module: "sigs.k8s.io/metrics-server",
			Version: MetricsServerVersion, About: "2 min", Stamps: map[string]string{"k8s.io/client-go/pkg/version.gitVersion": MetricsServerVersion}},
		{Name: "gpu-check", Set: "gpu-check", Package: ".", About: "1 s"},
		{Name: "kubernetes-next", Set: "kubernetes", Pins: "v1.37", Package: ".", Module: "k8s.io/kubernetes", Version: NextKubernetesVersion,
			About: "7 min", Stamps: kubernetesStamps(NextKubernetesVersion)},
		{Name: "etcd-next", Set: "etcd", Pins: "v3.7", Package: "go.etcd.io/etcd/server/v3", Module: "go.etcd.io/etcd/server/v3", Version: NextEtcdVersion, About: "30 s"},
		{Name: "etcdctl-next", Set: "etcd", Pins: "v3.7", Package: "go.etcd.io/etcd/etcdctl/v3", Module: "go.etcd.io/etcd/etcdctl/v3", Version: NextEtcdVersion, About: "5 s"},
		{Name: "coredns-next", Set: "coredns", Pins: "v1.14.6", Package: "github.com/coredns/coredns", Module: "github.com/coredns/coredns", Version: NextCoreDNSVersion,
			About: "90 s"},
	},
	Images: slices.Concat(
		kubernetesImages("kubernetes", KubernetesVersion, "etcd", EtcdVersion, "etcdctl", "coredns", CoreDNSVersion),
		kubernetesImages("kubernetes-next", NextKubernetesVersion, "etcd-next", NextEtcdVersion, "etcdctl-next", "coredns-next", NextCoreDNSVersion),
		[]Image{
			{Name: "registry.k8s.io/pause:" + PauseVersion, Layers: []Layer{{Program: "pause", Path: "/pause"}}, Entrypoint: []string{"/pause"}, User: "65535:65535"},
			{Name: "ghcr.io/flannel-io/flannel:" + FlannelVersion, Layers: []Layer{{Program: "flannel", Path: "/opt/bin/flanneld"}}, NetTables: true, Entrypoint: []string{"/opt/bin/flanneld"}},
			{Name: "registry.k8s.io/kueue/kueue:" + KueueVersion, Layers: []Layer{{Program: "kueue", Path: "/manager"}}, Entrypoint: []string{"/manager"}, User: "65532:65532"},
			{Name: "registry.k8s.io/jobset/jobset:" + JobSetVersion, Layers: []Layer{{Program: "jobset", Path: "/manager"}}, Entrypoint: []string{"/manager"}, User: "65532:65532"},
			{Name: "registry.k8s.io/lws/lws:" + LeaderWorkerSetVersion, Layers: []Layer{{Program: "lws", Path: "/manager"}}, Entrypoint: []string{"/manager"}, User: "65532:65532"},
			{Name: "registry.k8s.io/metrics-server/metrics-server:" + MetricsServerVersion, Layers: []Layer{{Program: "metrics-server", Path: "/metrics-server"}},
				Entrypoint: []string{"/metrics-server"}, User: "65532:65532"},
			{Name: DevicePluginImage, Layers: []Layer{{Program: "device-plugin", Path: "/device-plugin"}}, Entrypoint: []string{"/device-plugin"}},
			{Name: GPUCheckImage, Layers: []Layer{{Program: "gpu-check", Path: "/usr/bin/nvidia-smi", Links: []string{"gpu-check"}}}, Entrypoint: []string{"nvidia-smi", "-L"}},
		}),
	Binaries: slices.Concat(kubernetesBinaries("kubernetes", KubernetesVersion), kubernetesBinaries("kubernetes-next", NextKubernetesVersion)),
	Charts: []Chart{
		{Name: "kueue", Version: strings.TrimPrefix(KueueVersion, "v"), Set: "kueue", Module: "sigs.k8s.io/kueue", Folder: "charts/kueue",
			Values: []Replacement{
				{"repository: us-central1-docker.pkg.dev/k8s-staging-images/kueue/kueue\n", "repository: registry.k8s.io/kueue/kueue\n"},
				{"tag: release-0.17\n", "tag: " + KueueVersion + "\n"},
				{"pullPolicy: Always\n", "pullPolicy: IfNotPresent\n"},
			}},
		{Name: "jobset", Version: strings.TrimPrefix(JobSetVersion, "v"), Set: "jobset", Module: "sigs.k8s.io/jobset", Folder: "charts/jobset",
			Values: []Replacement{
				{"repository: us-central1-docker.pkg.dev/k8s-staging-images/jobset/jobset\n", "repository: registry.k8s.io/jobset/jobset\n"},
				{"tag: main\n", "tag: " + JobSetVersion + "\n"},
				{"pullPolicy: Always\n", "pullPolicy: IfNotPresent\n"},
			}},
		{Name: "lws", Version: strings.TrimPrefix(LeaderWorkerSetVersion, "v"), Set: "lws", Module: "sigs.k8s.io/lws", Folder: "charts/lws",
			Values: []Replacement{
				{"tag: main\n", "tag: " + LeaderWorkerSetVersion + "\n"},
				{"pullPolicy: Always\n", "pullPolicy: IfNotPresent\n"},
			},
			Metadata: []Replacement{{"\nversion: 0.1.0\n", "\nversion: " + strings.TrimPrefix(LeaderWorkerSetVersion, "v") + "\n"}}},
	},
}

// Tests is what tests run beside a control plane, and no cluster has: kwok plays
// the kubelets of nodes that are not there.
var Tests = Table{
	Programs: []Program{
		{Name: "kwok", Set: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok", Module: "sigs.k8s.io/kwok", Version: KwokVersion, About: "1 min"},
	},
}

// kubernetesStamps are what `kubelet --version` and kubeadm's checks of versions read.
func kubernetesStamps(version string) map[string]string {
	part := strings.Split(strings.TrimPrefix(version, "v"), ".")
	stamps := map[string]string{}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		stamps[pkg+".gitVersion"] = version
		stamps[pkg+".gitMajor"], stamps[pkg+".gitMinor"] = part[0], part[1]
		stamps[pkg+".gitTreeState"] = "clean"
		stamps[pkg+".gitCommit"] = "unknown"
		// Not when it was built: the same sources give the same program.
		stamps[pkg+".buildDate"] = "1970-01-01T00:00:00Z"
	}
	return stamps
}
