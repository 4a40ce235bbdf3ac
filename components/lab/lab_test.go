package lab_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/lab"
	"github.com/gpucluster/pulumi-gpucluster/config"
	internallab "github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

func TestArguments(t *testing.T) {
	const noLab = "needs an environment with a lab section"
	for name, c := range map[string]struct {
		args *lab.LabArgs
		want string
	}{
		"none":           {nil, noLab},
		"no environment": {&lab.LabArgs{}, noLab},
		"no lab":         {&lab.LabArgs{Environment: &config.Environment{Name: "e"}}, noLab},
		"no hosts":       {&lab.LabArgs{Environment: &config.Environment{Name: "e", Lab: &config.Lab{}}}, "hosts: is "},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{}
			err := r.Run("s", func(ctx *pulumi.Context) error {
				_, err := lab.NewLab(ctx, "e", c.args)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(r.Resources()) > 0 {
				t.Errorf("registered before it failed:\n%s", r.Inventory())
			}
		})
	}
}

// TestLab checks a lab without any other component.
func TestLab(t *testing.T) {
	env := pulumitest.Environment(t)
	var names []string
	r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		made, err := lab.NewLab(ctx, "mine", &lab.LabArgs{Environment: env})
		if err != nil {
			return err
		}
		names = made.Connections.Names()
		return nil
	})
	want := `command:local:Command mine-ctl1-host (parent mine)
command:local:Command mine-gpu1-host (parent mine)
command:local:Command mine-gpu2-host (parent mine)
command:local:Command mine-image (parent mine)
command:local:Command mine-key (parent mine)
command:local:Command mine-login1-host (parent mine)
command:local:Command mine-network (parent mine)
gpucluster:lab:Lab mine (parent gpucluster-s)
`
	if got := r.Inventory(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if want := []string{"ctl1", "gpu1", "gpu2", "login1"}; !slices.Equal(names, want) {
		t.Errorf("connections to %v, want %v", names, want)
	}
	if got, want := r.Before("mine-gpu1-host"), []string{"mine-image", "mine-key", "mine-network"}; !slices.Equal(got, want) {
		t.Errorf("before a host: %v, want %v", got, want)
	}
}

// TestHostMadeAnew checks that everything on a host runs again when the lab
// has made it anew, and nothing on other hosts.
func TestHostMadeAnew(t *testing.T) {
	env := pulumitest.Environment(t)
	program := func(ctx *pulumi.Context) error {
		made, err := lab.NewLab(ctx, "mine", &lab.LabArgs{Environment: env})
		if err != nil {
			return err
		}
		_, err = hosts.NewHosts(ctx, "mine", &hosts.HostsArgs{Environment: env, Connections: made.Connections})
		return err
	}
	r := &pulumitest.Recorder{Results: map[string]string{
		"lab-host": `{"name":"h","address":"192.0.2.1","hostKey":"ssh-ed25519 BBBB","instance":"one"}`,
	}}
	if err := r.Run("s", program); err != nil {
		t.Fatal(err)
	}
	if got := pulumitest.Entry(r.Command("mine-gpu1-baseline"), "GPUCLUSTER_INSTANCES"); got != "gpu1=one" {
		t.Errorf("instances %q, want the host's own", got)
	}
}

// TestHostSpec checks what a host is asked to be, and that what is known only
// later is no part of it.
func TestHostSpec(t *testing.T) {
	env := pulumitest.Environment(t)
	r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		_, err := lab.NewLab(ctx, "mine", &lab.LabArgs{Environment: env})
		return err
	})
	host := r.Command("mine-gpu1-host")
	var spec internallab.HostSpec
	if err := json.Unmarshal([]byte(host.Inputs["stdin"].StringValue()), &spec); err != nil {
		t.Fatal(err)
	}
	if spec.Lab != "env" || spec.Name != "gpu1" || spec.Hardware.Sockets != 2 || spec.Hardware.MemoryMiB != 2<<20 || !slices.Equal(spec.Hardware.GPUs, []internallab.GPUs{{Count: 8, Name: "h100"}}) {
		t.Errorf("spec %+v", spec)
	}
	if spec.AuthorizedKey != "" {
		t.Error("the key is part of the spec, so that a preview could not show it")
	}
	if got := pulumitest.Entry(host, "GPUCLUSTER_AUTHORIZED_KEY"); got != "ssh-ed25519 AAAA" {
		t.Errorf("authorized key %q", got)
	}
	if r.Command("mine-ctl1-host").Inputs["stdin"].StringValue() == host.Inputs["stdin"].StringValue() {
		t.Error("two hosts of different profiles have the same spec")
	}
}
