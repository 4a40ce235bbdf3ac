package slurm

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/gate"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// declareAccounting makes accounts, users and QOS what the environment says,
// where records are kept.
func (b *builder) declareAccounting() error {
	if b.env.SlurmCluster().Accounting == nil {
		return nil
	}
	name := b.name + "-accounting"
	accounts, err := stepresource.New(b.ctx, name, stepresource.Args{
		Step: slurmstep.Accounting,
		Spec: slurmstep.AccountingSpec{
			Controllers: b.controllers(), Deadline: b.env.Slurm.DrainDeadline, Desired: b.env.Accounting(),
		},
		Targets: b.connections(b.controllers()...), Heal: b.heal.Count(name),
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn([]pulumi.Resource{b.controller}))
	if err != nil {
		return err
	}
	b.last = append(b.last, accounts)
	return nil
}

// declareSmoke runs a job over two hosts of the default partition, or of another
// in which root may run it.
func (b *builder) declareSmoke() error {
	partition, hosts := b.smokePlace()
	spec := slurmstep.SmokeSpec{
		Controllers: b.controllers(), Version: b.env.Slurm.Version, Partition: partition, Hosts: min(2, len(hosts)),
	}
	if len(hosts) > 0 {
		spec.Gres = oneOfEach(hosts[0].Profile)
	}
	smoke, err := stepresource.New(b.ctx, b.name+"-smoke", stepresource.Args{
		Step: slurmstep.Smoke, Spec: spec, Targets: b.connections(b.controllers()...), Heal: b.heal.Count(b.name + "-smoke"),
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn(slices.Clone(b.last)))
	if err != nil {
		return err
	}
	b.Smoke = smoke.Stdout
	b.outcomes = append(b.outcomes, smoke.Stdout)
	b.last = append(b.last, smoke)
	return nil
}

// smokePlace is the partition of the smoke job and the hosts that it may have
// there. A partition may keep root out, or jobs over two hosts; the hidden one in
// which root checks such hosts before they are opened comes next.
func (b *builder) smokePlace() (string, []config.Host) {
	all := b.env.SlurmCluster().RootPartitions()
	rank := func(p slurmconf.Partition) int {
		switch {
		case p.Default:
			return 0
		case p.Name == slurmconf.RootPartition:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(p, q slurmconf.Partition) int { return rank(p) - rank(q) })
	for _, n := range []int{2, 1} {
		for _, p := range all {
			if hosts := b.alike(p.Nodes); len(hosts) >= n && (p.MaxNodes == 0 || p.MaxNodes >= n) {
				return p.Name, hosts[:n]
			}
		}
	}
	return "", nil // a valid environment has hosts, and a partition for root on each
}

// alike are those of the compute hosts named that have the same GPUs as the
// first, since a job asks for the same on each of its hosts.
func (b *builder) alike(names []string) []config.Host {
	var out []config.Host
	for _, host := range b.env.HostsWithRole(config.RoleCompute) {
		if slices.Contains(names, host.Name) && (len(out) == 0 || gresOf(host.Profile) == gresOf(out[0].Profile)) {
			out = append(out, host)
		}
	}
	return out
}

// oneOfEach asks for all GPUs of the first type.
func oneOfEach(p config.Profile) string {
	if len(p.GPUs) == 0 {
		return ""
	}
	return gresOf(config.Profile{GPUs: p.GPUs[:1]})
}

// declareGate fails the run at its end when a host is in quarantine.
func (b *builder) declareGate() error {
	_, err := gate.New(b.ctx, b.name+"-gate", &gate.Args{Environment: b.env.Name, Outcomes: b.outcomes},
		pulumi.Parent(b.Cluster), pulumi.DependsOn(slices.Clone(b.last)))
	return err
}

// declareGuard makes what is deleted first and may refuse. It waits for all that
// does something when it is deleted, and for nothing else: a cluster that runs
// jobs is guarded although a host or the smoke job failed.
func (b *builder) declareGuard() error {
	_, err := stepresource.New(b.ctx, b.name+"-guard", stepresource.Args{
		Step: slurmstep.Guard, Spec: slurmstep.GuardSpec{Controllers: b.controllers(), Lab: b.env.Lab != nil},
		Targets: b.connections(b.controllers()...),
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn(slices.Clone(b.last)))
	return err
}
