// Package hosts prepares hosts for any scheduler: it compares them with what
// was declared, makes people and groups known, and mounts the shared home.
//
// The usual path is [NewHosts] on the connections of a lab or an inventory.
package hosts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// Hosts is a set of prepared hosts.
type Hosts struct {
	pulumi.ResourceState

	// Connections to the hosts, as given.
	Connections connection.Connections

	owner    pulumi.StringOutput
	prepared map[string][]pulumi.Resource
	outcomes map[string][]pulumi.StringOutput
}

// HostsArgs says which hosts to prepare.
type HostsArgs struct {
	// Environment that the hosts belong to, plain: it decides which resources
	// exist. It is judged by [config.Check], and need say nothing of how hosts
	// are reached nor of a scheduler.
	Environment *config.Environment
	// Connections to every host of the environment. Addresses and keys may be
	// outputs of other resources; those are waited for. With dns: hosts in an
	// inventory, every host gets the names of all at these addresses, those that
	// are IP addresses.
	Connections connection.Connections
	// Heal says which hosts need repair. Default: none.
	Heal *heal.Assessment
}

// validate reports everything that is wrong with the arguments.
func (args *HostsArgs) validate() error {
	if args == nil || args.Environment == nil {
		return errors.New("hosts need an environment")
	}
	if err := config.Check(args.Environment); err != nil {
		return err
	}
	var missing []string
	for _, host := range args.Environment.AllHosts() {
		if _, ok := args.Connections[host.Name]; !ok {
			missing = append(missing, host.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("no connection is given to %s", hostlist.Compress(missing))
	}
	return args.Connections.Check()
}

// Ready returns what has to be done on a host before anything else may use it.
func (h *Hosts) Ready(host string) []pulumi.Resource { return h.prepared[host] }

// Outcomes returns how the host's preparation ended. A host that is not
// [Essential] does not fail the run by itself: give the outcomes to a gate.
func (h *Hosts) Outcomes(host string) []pulumi.StringOutput { return h.outcomes[host] }

// NewHosts prepares every host of the environment, side by side.
func NewHosts(ctx *pulumi.Context, name string, args *HostsArgs, opts ...pulumi.ResourceOption) (*Hosts, error) {
	if err := args.validate(); err != nil {
		return nil, err
	}
	if err := CheckChange(args.Environment, args.Heal); err != nil {
		return nil, err
	}
	h := &Hosts{
		Connections: args.Connections,
		prepared:    map[string][]pulumi.Resource{},
		outcomes:    map[string][]pulumi.StringOutput{},
	}
	if err := ctx.RegisterComponentResource("gpucluster:hosts:Hosts", name, h, opts...); err != nil {
		return nil, err
	}
	owner, err := stepresource.New(ctx, name+"-owner", stepresource.Args{Step: hoststep.Owner, Spec: hoststep.OwnerSpec{}}, pulumi.Parent(h))
	if err != nil {
		return nil, err
	}
	h.owner = owner.Stdout
	later := map[string]pulumi.StringInput{hoststep.EnvOwner: h.owner}
	known, others := names(args)
	if others != nil {
		later[hoststep.EnvNames] = others
	}
	for _, host := range args.Environment.AllHosts() {
		resource := name + "-" + host.Name + "-baseline"
		baseline, err := stepresource.New(ctx, resource, stepresource.Args{
			Step: hoststep.Baseline,
			Spec: hoststep.BaselineSpec{
				Host: host.Name, Essential: essential(args.Environment, host), Environment: args.Environment.Name, Vars: baselineVars(args.Environment, host, known),
			},
			Targets: []connection.Connection{args.Connections[host.Name]},
			Later:   later,
			Heal:    args.Heal.Count(resource),
			Toolkit: playbook.Digest(playbook.Baseline),
		}, pulumi.Parent(h))
		if err != nil {
			return nil, err
		}
		h.prepared[host.Name] = append(h.prepared[host.Name], baseline)
		h.outcomes[host.Name] = append(h.outcomes[host.Name], baseline.Stdout)
	}
	if args.Environment.Home != nil {
		if err := h.shareHome(ctx, name, args); err != nil {
			return nil, err
		}
	}
	return h, ctx.RegisterResourceOutputs(h, pulumi.Map{})
}

// essential is [Essential], but for a host that is one of several control planes
// and nothing else of the kind: the others go on without it.
func essential(env *config.Environment, host config.Host) bool {
	others := []config.Role{config.RoleController, config.RoleDatabase, config.RoleStorage}
	return Essential(host) && (len(env.HostsWithRole(config.RoleControlPlane)) < 2 || slices.ContainsFunc(others, host.Has))
}

// Essential reports whether nothing can go on without the host: its failure
// stops the run, while the failure of another host, also of one of several
// control planes, only puts it in quarantine.
func Essential(host config.Host) bool {
	return slices.ContainsFunc([]config.Role{config.RoleController, config.RoleDatabase, config.RoleStorage, config.RoleControlPlane}, host.Has)
}
