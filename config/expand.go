package config

import (
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Host is one host of an environment, with all that the file says about it.
type Host struct {
	// Name of the host, which is also its Slurm node name.
	Name string
	// ProfileName is the key in Environment.Profiles, Profile what it says.
	ProfileName string
	Profile     Profile
	// Roles as listed.
	Roles []Role
	// Features of the profile, then those of the host's group.
	Features []string
	// Weight is Slurm's node weight.
	Weight int
	// Address to reach the host at; empty where the inventory gives none and
	// the name resolves, and in the lab.
	Address string
	// Group is the index of the host's group in Environment.Hosts.
	Group int
}

// Has reports whether the host plays the role.
func (h Host) Has(role Role) bool { return slices.Contains(h.Roles, role) }

// GPUs is the number of GPUs of all types together.
func (h Host) GPUs() int {
	total := 0
	for _, gpu := range h.Profile.GPUs {
		total += gpu.Count
	}
	return total
}

// AllHosts expands the host groups, in the order written. Groups whose
// expression cannot be read, and names seen before, are left out: Validate
// reports them.
func (e *Environment) AllHosts() []Host {
	return e.hosts(func(HostGroup) bool { return true })
}

// HostsWithRole lists the hosts that play the role, in the order written: the
// first controller is the primary.
func (e *Environment) HostsWithRole(role Role) []Host {
	return e.hosts(func(g HostGroup) bool { return slices.Contains(g.Roles, role) })
}

// hosts expands the groups that are wanted.
func (e *Environment) hosts(wanted func(HostGroup) bool) []Host {
	total := 0
	for _, group := range e.Hosts {
		if n, err := hostlist.Count(group.Names); err == nil && wanted(group) {
			total += n
		}
	}
	addresses := e.addresses()
	seen := make(map[string]bool, total)
	hosts := make([]Host, 0, total)
	for i, group := range e.Hosts {
		if !wanted(group) {
			continue
		}
		names, err := hostlist.Expand(group.Names)
		if err != nil {
			continue
		}
		profile := e.Profiles[group.Profile]
		features := slices.Concat(profile.Features, group.Features)
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			hosts = append(hosts, Host{
				Name: name, ProfileName: group.Profile, Profile: profile,
				Roles: group.Roles, Features: features, Weight: group.Weight,
				Address: addresses[name], Group: i,
			})
		}
	}
	return hosts
}

// count is the number of hosts with a role.
func (e *Environment) count(role Role) int {
	total := 0
	for _, group := range e.Hosts {
		if n, err := hostlist.Count(group.Names); err == nil && slices.Contains(group.Roles, role) {
			total += n
		}
	}
	return total
}

// addresses pairs the names of the inventory with their addresses. Entries
// that cannot be read, or whose counts differ, are left out.
func (e *Environment) addresses() map[string]string {
	if e.Inventory == nil {
		return nil
	}
	total := 0
	for names := range e.Inventory.Addresses {
		if n, err := hostlist.Count(names); err == nil {
			total += n
		}
	}
	out := make(map[string]string, total)
	for namesExpr, addressExpr := range e.Inventory.Addresses {
		names, err := hostlist.Expand(namesExpr)
		if err != nil {
			continue
		}
		addresses, err := hostlist.Expand(addressExpr)
		if err != nil || len(names) != len(addresses) {
			continue
		}
		for i, name := range names {
			out[name] = addresses[i]
		}
	}
	return out
}

// Release is the Debian release of the lab's hosts: the one whose archive has
// the Slurm release asked for, or on which that release is known to install.
func (e *Environment) Release() string {
	if e.Slurm != nil && e.Slurm.Version == "22.05" {
		return "bookworm"
	}
	return "trixie"
}
