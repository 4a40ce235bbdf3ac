package slurm

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/ledger"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// declareMembers makes one membership a compute host.
func (b *builder) declareMembers() error {
	controllers := b.controllers()
	cluster, err := impact.StartDigest(impact.Of(b.files))
	if err != nil {
		return err
	}
	shapes, err := impact.NodeStarts(impact.Of(b.files))
	if err != nil {
		return err
	}
	for _, host := range b.env.HostsWithRole(config.RoleCompute) {
		vars := b.packageVars()
		vars["slurm_compute_conf_servers"] = controllers
		vars["slurm_compute_files"] = placed(b.files.For(slurmconf.OnCompute))
		if b.env.Home != nil {
			vars["slurm_compute_require_mount"] = b.env.Home.Path
		}
		spec := slurmstep.MemberSpec{
			Host: host.Name, Owner: string(config.SchedulerSlurm), Controllers: controllers, Gres: gresOf(host.Profile), Cluster: cluster, Vars: vars,
			Shape: shapes[host.Name],
		}
		name := b.name + "-" + host.Name
		member, err := stepresource.New(b.ctx, name, stepresource.Args{
			Step: slurmstep.Member, Spec: spec,
			Targets: b.connections(append([]string{host.Name}, others(controllers, host.Name)...)...),
			Secrets: b.secrets(), Later: b.later(host.Name), Heal: b.heal.Count(name), Toolkit: playbook.Digest(playbook.Compute),
		}, pulumi.DependsOn(append(b.ready(host.Name), b.controller)))
		if err != nil {
			return err
		}
		b.outcomes = append(b.outcomes, member.Stdout)
		b.outcomes = append(b.outcomes, b.hosts.Outcomes(host.Name)...)
		b.last = append(b.last, member)
	}
	return nil
}

// later tells a step whose its host is, and why the preparation of the host
// failed, if it did.
func (b *builder) later(host string) map[string]pulumi.StringInput {
	var outcomes []any
	for _, outcome := range b.hosts.Outcomes(host) {
		outcomes = append(outcomes, outcome)
	}
	why := pulumi.All(outcomes...).ApplyT(func(results []any) string {
		var reasons []string
		for _, result := range results {
			if outcome, ok := step.ReadOutcome(result.(string)); ok && outcome.Status == step.StatusQuarantined {
				reasons = append(reasons, outcome.Reason)
			}
		}
		return strings.Join(reasons, "\n")
	}).(pulumi.StringOutput)
	entries := b.owner()
	entries[slurmstep.EnvUnprepared] = why
	return entries
}

func others(all []string, without string) []string {
	var out []string
	for _, name := range all {
		if name != without {
			out = append(out, name)
		}
	}
	return out
}

// gresOf is the GPUs of a profile as Slurm writes them.
func gresOf(p config.Profile) string {
	text := ""
	for i, gpu := range p.GPUs {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("gpu:%s:%d", gpu.Type, gpu.Count)
	}
	return text
}

// ledgerOf lists the owners of the compute hosts.
func ledgerOf(env *config.Environment) []pulumi.Input {
	var entries []ledger.Entry
	for _, host := range env.HostsWithRole(config.RoleCompute) {
		gpus := map[string]int{}
		for _, gpu := range host.Profile.GPUs {
			gpus[gpu.Type] += gpu.Count
		}
		entries = append(entries, ledger.Entry{Host: host.Name, Owner: string(config.SchedulerSlurm), GPUs: gpus})
	}
	var out []pulumi.Input
	for _, entry := range ledger.New(entries) {
		out = append(out, pulumi.Map{
			"host": pulumi.String(entry.Host), "owner": pulumi.String(entry.Owner), "gpus": pulumi.ToIntMap(entry.GPUs),
		})
	}
	return out
}
