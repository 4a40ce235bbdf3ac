package slurm

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
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
			Secrets: b.secrets(), Later: b.hosts.Later(host.Name), Heal: b.heal.Count(name), Toolkit: playbook.Digest(playbook.Compute),
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
