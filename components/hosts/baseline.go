package hosts

import (
	"net/netip"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
)

// baselineVars are the variables of the baseline playbook for one host. Names
// are the lines of /etc/hosts that are known, or nil where a resolver has them.
func baselineVars(env *config.Environment, host config.Host, names []string) map[string]any {
	vars := map[string]any{
		"host_baseline_hardware": map[string]any{host.Name: declared(host.Profile)},
	}
	if env.Lab != nil {
		vars["host_baseline_simulated"] = lab.HardwareFile
	}
	if env.Slurm != nil {
		vars["host_baseline_distribution"] = "debian " + env.Release()
	}
	if identity := env.Identity; identity != nil {
		vars["host_baseline_groups"] = identity.Groups
		vars["host_baseline_users"] = people(env)
		vars["host_baseline_manage_accounts"] = identity.Source != config.IdentityExisting
		vars["host_baseline_create_homes"] = env.Home == nil
	}
	if names != nil {
		vars["host_baseline_names"] = names
	}
	return vars
}

// declared is a profile as the preflight compares it.
func declared(p config.Profile) map[string]any {
	gpus := []map[string]any{}
	next := 0
	for _, gpu := range p.GPUs {
		first := next
		if gpu.FirstDevice != nil {
			first = *gpu.FirstDevice
		}
		gpus = append(gpus, map[string]any{"type": gpu.Type, "count": gpu.Count, "first_device": first})
		next = first + gpu.Count
	}
	return map[string]any{
		"sockets": p.Sockets, "cores_per_socket": p.CoresPerSocket, "threads_per_core": p.ThreadsPerCore,
		"memory_mib": p.Memory.MiB(), "usable_memory_mib": p.UsableMemory.MiB(), "gpus": gpus,
	}
}

// people are the users as the roles take them.
func people(env *config.Environment) []map[string]any {
	home := "/home"
	if env.Home != nil {
		home = env.Home.Path
	}
	users := []map[string]any{}
	for _, user := range env.Identity.Users {
		groups := user.Groups
		if groups == nil {
			groups = []string{}
		}
		users = append(users, map[string]any{
			"name": user.Name, "uid": user.UID, "group": user.Group, "groups": groups,
			"shell": user.Shell, "home": home + "/" + user.Name,
		})
	}
	return users
}

// names are the lines of /etc/hosts for the hosts with an IP address, where no
// resolver knows them: those that are known now, and those that are known only
// when their hosts exist, or nil.
func names(args *HostsArgs) (known []string, later pulumi.StringInput) {
	if inventory := args.Environment.Inventory; inventory == nil || inventory.DNS != config.DNSHosts {
		return nil, nil
	}
	known = []string{}
	var unknown []string
	var addresses []any
	for _, host := range args.Environment.AllHosts() {
		switch address := args.Connections[host.Name].Address.(type) {
		case nil:
		case pulumi.String:
			known = appendName(known, string(address), host.Name)
		default:
			unknown, addresses = append(unknown, host.Name), append(addresses, address)
		}
	}
	if len(unknown) == 0 {
		return known, nil
	}
	return known, pulumi.All(addresses...).ApplyT(func(values []any) string {
		var lines []string
		for i, host := range unknown {
			lines = appendName(lines, values[i].(string), host)
		}
		return strings.Join(lines, "\n")
	}).(pulumi.StringOutput)
}

// appendName adds a line of /etc/hosts, which takes IP addresses alone.
func appendName(lines []string, address, host string) []string {
	if ip, err := netip.ParseAddr(address); err == nil {
		lines = append(lines, ip.String()+" "+host)
	}
	return lines
}
