package hosts

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// shareHome mounts the shared home on every host, after the host that serves
// it is ready.
func (h *Hosts) shareHome(ctx *pulumi.Context, name string, args *HostsArgs) error {
	env := args.Environment
	all := env.AllHosts()
	server := ""
	if env.Home.Kind == config.HomeGlusterFS {
		server = env.HostsWithRole(config.RoleStorage)[0].Name
	}
	var served []pulumi.Resource
	// The server comes first: the others depend on it.
	for _, serving := range []bool{true, false} {
		for _, host := range all {
			if (host.Name == server) != serving {
				continue
			}
			resource := name + "-" + host.Name + "-home"
			home, err := stepresource.New(ctx, resource, stepresource.Args{
				Step: hoststep.Home,
				Spec: hoststep.HomeSpec{
					Host: host.Name, Essential: essential(env, host), Path: env.Home.Path, Server: serving, Vars: homeVars(env, server),
				},
				Targets: []connection.Connection{args.Connections[host.Name]},
				Later:   map[string]pulumi.StringInput{hoststep.EnvOwner: h.owner},
				Heal:    args.Heal.Count(resource),
				Toolkit: playbook.Digest(playbook.SharedHome),
			}, pulumi.Parent(h), pulumi.DependsOn(append(h.prepared[host.Name], served...)))
			if err != nil {
				return err
			}
			if serving {
				served = []pulumi.Resource{home}
			}
			h.prepared[host.Name] = append(h.prepared[host.Name], home)
			h.outcomes[host.Name] = append(h.outcomes[host.Name], home.Stdout)
		}
	}
	return nil
}

// homeVars are the variables of the shared home's playbooks.
func homeVars(env *config.Environment, server string) map[string]any {
	vars := map[string]any{
		"shared_home_kind": string(env.Home.Kind),
		"shared_home_path": env.Home.Path,
	}
	if env.Home.Kind == config.HomeGlusterFS {
		vars["shared_home_server"] = server
		vars["shared_home_brick"] = env.Home.Brick
		vars["shared_home_delete_data"] = env.Lab != nil
	}
	if env.Identity != nil {
		vars["shared_home_users"] = people(env)
	}
	return vars
}
