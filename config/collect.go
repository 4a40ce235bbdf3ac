package config

import (
	"maps"
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// Names that Slurm has without being told.
const (
	normalQOS   = "normal"
	rootAccount = "root"
)

// collect gathers the names that others refer to.
func (v *validator) collect() {
	e := v.env
	v.hosts = map[string]hostUse{}
	for _, host := range e.AllHosts() {
		v.hosts[host.Name] = hostUse{host, strictyaml.Item("hosts", host.Group) + ".names"}
	}
	v.accounts = map[string]bool{rootAccount: true}
	v.qos = map[string]bool{normalQOS: true}
	v.users, v.groups, v.gpuTypes = map[string]bool{}, map[string]bool{}, map[string]bool{}
	if e.Identity != nil {
		for _, group := range e.Identity.Groups {
			v.groups[group.Name] = true
		}
		for _, user := range e.Identity.Users {
			v.users[user.Name] = true
		}
	}
	for _, profile := range e.Profiles {
		for _, gpu := range profile.GPUs {
			v.gpuTypes[gpu.Type] = true
		}
	}
	if e.Slurm != nil {
		for _, account := range e.Slurm.Accounts {
			v.accounts[account.Name] = true
		}
		for _, qos := range e.Slurm.QOS {
			v.qos[qos.Name] = true
		}
	}
}

// computeHosts are the names of the hosts that run jobs, in the order written.
func (v *validator) computeHosts() []string {
	var names []string
	for _, host := range v.env.HostsWithRole(RoleCompute) {
		names = append(names, host.Name)
	}
	return names
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
