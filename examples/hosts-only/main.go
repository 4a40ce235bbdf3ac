// Command hosts-only prepares hosts that exist already, and builds no
// scheduler: it compares them with what they are declared to be and makes
// people and groups with fixed ids. A program that makes its hosts on a cloud
// would give their addresses as outputs in the same place.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/gate"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

func main() { pulumi.Run(build) }

// machine is a host of the inventory in the stack's configuration.
type machine struct {
	// Name of the host, which must be what it calls itself.
	Name string
	// Address to reach it at.
	Address string
	// HostKey is its public SSH key, as "ssh-ed25519 ...".
	HostKey string
}

// environment says what the hosts are and who is to be known on them.
func environment(machines []machine) *config.Environment {
	names := make([]string, len(machines))
	for i, m := range machines {
		names[i] = m.Name
	}
	return &config.Environment{
		Name: "prepared",
		Profiles: map[string]config.Profile{
			"h100x8": {
				Sockets: 2, CoresPerSocket: 48, ThreadsPerCore: 2, Memory: 2 * config.TiB,
				GPUs: []config.GPU{{Type: "h100", Count: 8}},
			},
		},
		Hosts: []config.HostGroup{
			{Names: strings.Join(names, ","), Profile: "h100x8", Roles: []config.Role{config.RoleCompute}},
		},
		Identity: &config.Identity{
			Groups: []config.Group{{Name: "research", GID: 20001}},
			Users:  []config.User{{Name: "alice", UID: 20001, Group: "research"}},
		},
	}
}

// build prepares the hosts. It fails at its end, with the list, when some
// could not be.
func build(ctx *pulumi.Context) error {
	var machines []machine
	text, _ := ctx.GetConfig("hosts-only:hosts")
	if err := json.Unmarshal([]byte(text), &machines); err != nil {
		return fmt.Errorf("reading hosts-only:hosts of the stack's configuration: %w", err)
	}
	env := environment(machines)
	connections := connection.Connections{}
	for _, m := range machines {
		connections[m.Name] = connection.Connection{
			Name: m.Name, Address: pulumi.String(m.Address), HostKeys: pulumi.StringArray{pulumi.String(m.HostKey)},
		}
	}
	assessment, err := heal.Assess(ctx)
	if err != nil {
		return err
	}
	prepared, err := hosts.NewHosts(ctx, env.Name, &hosts.HostsArgs{
		Environment: env, Connections: connections, Heal: assessment,
	})
	if err != nil {
		return err
	}
	var outcomes []pulumi.StringOutput
	for _, name := range connections.Names() {
		outcomes = append(outcomes, prepared.Outcomes(name)...)
	}
	_, err = gate.New(ctx, env.Name+"-gate", &gate.Args{Environment: env.Name, Outcomes: outcomes})
	return err
}
