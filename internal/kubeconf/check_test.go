package kubeconf

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		change func(*Cluster)
		want   []string // paths of the problems
	}{
		"good":                         {func(*Cluster) {}, nil},
		"no name":                      {func(c *Cluster) { c.Name = "" }, []string{"name"}},
		"a name with blanks":           {func(c *Cluster) { c.Name = "a b" }, []string{"name"}},
		"no version":                   {func(c *Cluster) { c.Version = "" }, []string{"version"}},
		"a version without v":          {func(c *Cluster) { c.Version = "1.36.3" }, []string{"version"}},
		"an old version":               {func(c *Cluster) { c.Version = "v1.33.9" }, []string{"version"}},
		"the oldest version":           {func(c *Cluster) { c.Version = "v1.34.0" }, nil},
		"no port":                      {func(c *Cluster) { c.Endpoint = "ctl1" }, []string{"endpoint"}},
		"a port that nobody serves":    {func(c *Cluster) { c.Endpoint = "ctl1:443" }, []string{"endpoint"}},
		"a balancer's port":            {func(c *Cluster) { c.Endpoint = "api.example:443" }, nil},
		"one of three as the endpoint": {func(c *Cluster) { c.ControlPlanes = append(c.ControlPlanes, Node{Name: "ctl2"}, Node{Name: "ctl3"}) }, []string{"endpoint"}},
		"a balancer on every host": {func(c *Cluster) {
			c.Endpoint = LocalEndpoint
			c.ControlPlanes = append(c.ControlPlanes, Node{Name: "ctl2"}, Node{Name: "ctl3"})
		}, nil},
		"one that may be several":      {func(c *Cluster) { c.Endpoint = LocalEndpoint }, nil},
		"loopback without a balancer":  {func(c *Cluster) { c.Endpoint = "127.0.0.1:6443" }, []string{"endpoint"}},
		"a URL as the endpoint":        {func(c *Cluster) { c.Endpoint = "https://api:6443" }, []string{"endpoint"}},
		"no range":                     {func(c *Cluster) { c.PodCIDR = "10.244.0.0" }, []string{"podCIDR"}},
		"a range that is no network":   {func(c *Cluster) { c.PodCIDR = "10.244.0.1/16" }, []string{"podCIDR"}},
		"ranges that overlap":          {func(c *Cluster) { c.PodCIDR, c.ServiceCIDR = "10.0.0.0/8", "10.96.0.0/16" }, []string{"podCIDR"}},
		"too many nodes for the range": {func(c *Cluster) { c.PodCIDR = "10.244.0.0/24" }, []string{"podCIDR"}},
		"a node among the pods":        {func(c *Cluster) { c.Workers[0].Address = "10.244.3.4" }, []string{"workers[0].address"}},
		"services in a tiny range":     {func(c *Cluster) { c.ServiceCIDR = "10.96.0.0/28" }, []string{"serviceCIDR"}},
		"a registry without a scheme":  {func(c *Cluster) { c.Registry = "artifacts:5000" }, []string{"registry"}},
		"a registry with a password":   {func(c *Cluster) { c.Registry = "http://me:pass@artifacts" }, []string{"registry"}},
		"a registry with a quote":      {func(c *Cluster) { c.Registry = `http://a"b` }, []string{"registry"}},
		"an image without a tag":       {func(c *Cluster) { c.Images.Flannel = "ghcr.io/flannel-io/flannel" }, []string{"images.flannel"}},
		"no control plane":             {func(c *Cluster) { c.ControlPlanes = nil }, []string{"controlPlanes"}},
		"two control planes": {func(c *Cluster) {
			c.Endpoint = "api:6443"
			c.ControlPlanes = append(c.ControlPlanes, Node{Name: "ctl2"})
		}, []string{"controlPlanes"}},
		"a host twice":                  {func(c *Cluster) { c.Workers[0].Name = "ctl1" }, []string{"workers[0].name"}},
		"an address twice":              {func(c *Cluster) { c.ControlPlanes[0].Address, c.Workers[0].Address = "192.0.2.1", "192.0.2.1" }, []string{"workers[0].address"}},
		"no address":                    {func(c *Cluster) { c.Workers[0].Address = "gpu1" }, []string{"workers[0].address"}},
		"a label of Kubernetes":         {func(c *Cluster) { c.Workers[0].Labels = map[string]string{"node-role.kubernetes.io/gpu": ""} }, []string{`workers[0].labels["node-role.kubernetes.io/gpu"]`}},
		"a label that kubelet may set":  {func(c *Cluster) { c.Workers[0].Labels = map[string]string{"node.kubernetes.io/rack": "r1"} }, nil},
		"a label with a comma":          {func(c *Cluster) { c.Workers[0].Labels = map[string]string{"rack": "a,b"} }, []string{`workers[0].labels["rack"]`}},
		"a taint without an effect":     {func(c *Cluster) { c.Workers[0].Taints = []Taint{{Key: "a"}} }, []string{"workers[0].taints[0]"}},
		"the taint that is there":       {func(c *Cluster) { c.Workers[0].Taints = []Taint{ValidatingTaint} }, []string{"workers[0].taints[0]"}},
		"less than nothing is reserved": {func(c *Cluster) { c.Workers[0].Reserved.MilliCPU = -1 }, []string{"workers[0].reserved"}},
		"an odd time":                   {func(c *Cluster) { c.Overrides.SyncFrequency = "soon" }, []string{"overrides.syncFrequency"}},
		"everything at once":            {func(c *Cluster) { *c = Cluster{Workers: []Node{{}}} }, []string{"controlPlanes", "endpoint", "name", "version", "workers[0].name"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Cluster{Name: "train", Version: "v1.36.3", Endpoint: "ctl1:6443", ControlPlanes: []Node{{Name: "ctl1"}}, Workers: []Node{{Name: "gpu1"}}}
			tc.change(&c)
			problems := Check(c)
			var got []string
			for _, p := range problems {
				got = append(got, p.Path)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q:\n%v", got, tc.want, problems)
			}
			if _, err := Render(c); (err != nil) != (len(tc.want) > 0) {
				t.Errorf("rendering gives %v", err)
			}
		})
	}
}

// TestForAHost wants each host to have what makes it a member, and no more.
func TestForAHost(t *testing.T) {
	set, err := Render(samples()["full"])
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string][]string{"ctl1": {"join", "init"}, "ctl2": {"join"}, "gpu1": {"join"}} {
		var entered []string
		for _, f := range set.Own(host) {
			if name, ok := strings.CutPrefix(f.Path, Dir+"/"); ok && !strings.Contains(name, "/") && strings.HasSuffix(name, ".yaml") {
				entered = append(entered, strings.TrimSuffix(name, ".yaml"))
			}
		}
		if !slices.Equal(entered, want) {
			t.Errorf("%s enters by %q, want %q", host, entered, want)
		}
	}
	if got := len(set.Own("elsewhere")); got != 0 {
		t.Errorf("a host that is no member has %d files of its own, want none", got)
	}
}

// TestOverridesAreWhatTheLabDiffersIn wants a line of the lab's files that no real server
// has to come from an override or from the store of images.
func TestOverridesAreWhatTheLabDiffersIn(t *testing.T) {
	lab := samples()["lab"]
	lab.Overrides = Overrides{}
	lab.Name, lab.Registry, lab.Images = "plain", "", Images{}
	with, err := Render(lab)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Render(samples()["plain"])
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range golden(plain) {
		if golden(with)[path] != text {
			t.Errorf("%s differs without overrides", path)
		}
	}
}

func TestDiscovery(t *testing.T) {
	text := Discovery("ctl1:6443", "-----BEGIN CERTIFICATE-----\n", "abcdef.0123456789abcdef")
	for _, want := range []string{"server: https://ctl1:6443\n", "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==\n", "token: \"abcdef.0123456789abcdef\"\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}

// TestDefaultsAreInTheLab wants the lab to have the images that clusters ask for by default.
func TestDefaultsAreInTheLab(t *testing.T) {
	have := map[string]bool{}
	for _, image := range artifacts.Lab.Images {
		have[image.Name] = true
	}
	c := Cluster{}.withDefaults()
	for _, name := range []string{c.Images.Pause, c.Images.Flannel} {
		if !have[name] {
			t.Errorf("the lab has no %s", name)
		}
	}
}
