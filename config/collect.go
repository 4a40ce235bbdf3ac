package config

// Names that Slurm has without being told.
const (
	normalQOS   = "normal"
	rootAccount = "root"
)

// collect gathers the names that others refer to.
func (v *validator) collect() {
	e := v.env
	v.all = e.AllHosts()
	v.hosts, v.byRole = make(map[string]int, len(v.all)), map[Role]int{}
	for i := range v.all {
		v.count(&v.all[i])
		v.hosts[v.all[i].Name] = i
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
	return v.compute
}

// count adds a host to what is known of the roles.
func (v *validator) count(host *Host) {
	for _, role := range host.Roles {
		v.byRole[role]++
	}
	if host.Has(v.env.jobRole()) {
		v.compute = append(v.compute, host.Name)
	}
}

// jobRole is the role of the hosts that run jobs, or pods.
func (e *Environment) jobRole() Role {
	if e.Scheduler == SchedulerKubernetes {
		return RoleWorker
	}
	return RoleCompute
}
