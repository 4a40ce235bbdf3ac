package config

// LabCharts is where a lab's own server has Helm's charts, by the name that the
// lab's hosts know it by. Who reaches it from elsewhere needs its address.
const LabCharts = labArtifacts + "/charts"

// Artifacts says where Kubernetes gets what it is made of. What is left out
// comes from its makers' own places on the Internet, and in a lab from the lab's
// own server.
type Artifacts struct {
	// Registry is the URL of a mirror that has every image under the name that it
	// has upstream, for example "https://mirror.example.org". Default: each
	// image's own registry; in a lab "http://artifacts:5000".
	Registry string `yaml:"registry,omitempty" json:"registry,omitempty"`

	// Binaries is the URL of a folder with one folder a release, such as
	// v1.36.3, that holds kubelet, kubeadm, kubectl and SHA256SUMS. Default:
	// Kubernetes' own downloads; in a lab "http://artifacts:5000/binaries".
	Binaries string `yaml:"binaries,omitempty" json:"binaries,omitempty"`

	// Charts is the URL of a place with Helm charts (http, https or oci), or a
	// folder of the checkout. Default: each chart's own repository; in a lab
	// "http://artifacts:5000/charts".
	Charts string `yaml:"charts,omitempty" json:"charts,omitempty"`

	// APT is the URL of a Debian mirror for the packages of hosts. Default: what
	// the hosts have in their own sources, also in a lab.
	APT string `yaml:"apt,omitempty" json:"apt,omitempty"`
}
