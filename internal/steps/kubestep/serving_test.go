package kubestep

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestAddressesOf checks whose word counts for a host's addresses: that of the
// environment, else that of the host, which cannot claim another's.
func TestAddressesOf(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		want    []string
	}{
		"the environment names it": {"192.0.2.11", []string{"192.0.2.11"}},
		"it names a name":          {"gpu1.example.org", []string{"192.0.2.11", "172.16.0.1"}},
		"it names nothing":         {"", []string{"192.0.2.11", "172.16.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"hostname": "echo '192.0.2.11 192.0.2.1 172.16.0.1 '", "kubectl": `echo 'ctl1 192.0.2.1'; echo 'gpu1 192.0.2.11'`})
			targets, err := json.Marshal([]remote.Target{{Name: "gpu1", Address: c.address}, {Name: "ctl1"}})
			if err != nil {
				t.Fatal(err)
			}
			in := step.NewInput([]byte("{}"), func(entry string) string {
				if entry == step.EnvTargets {
					return string(targets)
				}
				return ""
			}, &strings.Builder{})
			session, err := in.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			got, err := addressesOf(t.Context(), on(in, session, "ctl1"), session, "gpu1")
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if asked := strings.Contains(s.Asked(), "hostname"); asked != (c.want[0] != c.address) {
				t.Errorf("the host was asked: %v", asked)
			}
		})
	}
}
