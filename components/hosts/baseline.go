package hosts

import (
	"github.com/gpucluster/pulumi-gpucluster/config"
)

// simulatedHardware is where a lab host says what it pretends to have.
const simulatedHardware = "/etc/gpucluster-lab/hardware.json"

// baselineVars are the variables of the baseline playbook for one host.
func baselineVars(env *config.Environment, host config.Host) map[string]any {
	vars := map[string]any{
		"host_baseline_hardware": map[string]any{host.Name: declared(host.Profile)},
	}
	if env.Lab != nil {
		vars["host_baseline_simulated"] = simulatedHardware
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
	if env.Inventory != nil && env.Inventory.DNS == config.DNSHosts {
		vars["host_baseline_names"] = nameLines(env)
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

// nameLines are the lines of /etc/hosts for every host with a known address.
func nameLines(env *config.Environment) []string {
	lines := []string{}
	for _, host := range env.AllHosts() {
		if host.Address != "" {
			lines = append(lines, host.Address+" "+host.Name)
		}
	}
	return lines
}
