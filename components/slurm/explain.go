package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// CheckChange refuses what cannot change while the cluster exists, and on its
// hosts ([hosts.CheckChange]). NewHosts and NewCluster refuse it too, but a program that makes the hosts itself asks before it
// declares them: else they would be changed for a cluster that is then refused.
// The name is that of the cluster, and the assessment holds what the last update
// left. The error names each change and the way that exists.
func CheckChange(name string, env *config.Environment, assessment *heal.Assessment) error {
	if env == nil || env.Slurm == nil {
		return errors.New("a cluster needs an environment with a slurm section")
	}
	if err := config.Check(env, config.PartScheduler); err != nil {
		return err
	}
	if err := hosts.CheckChange(env, assessment); err != nil {
		return err
	}
	files, err := slurmconf.Render(env.SlurmCluster())
	if err != nil {
		return fmt.Errorf("rendering the configuration: %w", err)
	}
	b := &builder{name: name, env: env, heal: assessment, files: files}
	_, _, err = b.change()
	return err
}

// explain tells what a change of the configuration means, from what the last
// update placed, before anything is registered. It refuses what cannot change.
func (b *builder) explain() error {
	previous, plan, err := b.change()
	switch {
	case err != nil || plan.None():
		return err
	case len(previous.Files) == 0:
		return b.ctx.Log.Info("the cluster is new:\n"+strings.Join(plan.Summary(), "\n"), nil)
	}
	return b.ctx.Log.Info("the configuration changes:\n"+plan.String()+"lines that change\n"+impact.Lines(previous, b.set()), nil)
}

// set is the file set that is to be placed.
func (b *builder) set() impact.Set {
	return impact.Of(b.files, hostNames(b.env.HostsWithRole(config.RoleLogin))...)
}

// change compares with what the last update placed, which has no files where
// there was none. A program that does not assess its stack knows of none, and
// gets no plan.
func (b *builder) change() (impact.Set, impact.Plan, error) {
	if b.heal == nil {
		return impact.Set{}, impact.Plan{}, nil
	}
	if err := b.renamed(); err != nil {
		return impact.Set{}, impact.Plan{}, err
	}
	previous, err := b.previous()
	if err != nil {
		return impact.Set{}, impact.Plan{}, err
	}
	plan, err := impact.Compare(previous, b.set())
	if err != nil {
		return impact.Set{}, impact.Plan{}, fmt.Errorf("comparing with what was placed last: %w", err)
	}
	if refused := plan.Refused(); len(refused) > 0 {
		var lines []string
		for _, change := range refused {
			lines = append(lines, change.String()+": "+change.Why)
		}
		return impact.Set{}, impact.Plan{}, fmt.Errorf("refused, since it cannot change while the cluster exists:\n  %s", strings.Join(lines, "\n  "))
	}
	return previous, plan, nil
}

// renamed refuses to build a cluster of the last update anew under another
// name, beside the old one on the same hosts. A stack may hold other clusters,
// with a ClusterName of their own on hosts of their own.
func (b *builder) renamed() error {
	own := b.name + "-controller"
	others := b.heal.Named(slurmstep.Controller)
	if slices.Contains(others, own) {
		return nil
	}
	for _, other := range others {
		text, _ := b.heal.Stdin(other)
		var spec slurmstep.ControllerSpec
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			return fmt.Errorf("reading what was placed last: %w", err)
		}
		// The hosts of a lab are the lab's own, whatever they are called.
		sameHosts := b.env.Lab == nil && slices.ContainsFunc(b.controllers(), func(host string) bool {
			return slices.Contains(spec.Controllers, host)
		})
		if spec.Cluster == b.clusterName() || sameHosts {
			was := strings.TrimSuffix(other, "-controller")
			return fmt.Errorf("the cluster %s was built as %q and cannot be renamed to %q: it would be built anew beside the old one; "+
				"put the name back, or destroy the old one first; a second cluster has another clusterName, and its controllers have other names",
				spec.Cluster, was, b.name)
		}
	}
	return nil
}

// clusterName is the name of the cluster in the accounting database.
func (b *builder) clusterName() string { return strings.ToLower(b.env.Slurm.ClusterName) }

// previous is the file set of the last update; without files where there was
// none.
func (b *builder) previous() (impact.Set, error) {
	text, ok := b.heal.Stdin(b.name + "-controller")
	if !ok {
		return impact.Set{Version: b.files.Version}, nil
	}
	var spec slurmstep.ControllerSpec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return impact.Set{}, fmt.Errorf("reading what was placed last: %w", err)
	}
	version, err := slurmconf.ParseVersion(spec.Version)
	if err != nil {
		return impact.Set{}, fmt.Errorf("reading what was placed last: %w", err)
	}
	for what, ids := range map[string][2]any{
		"slurmUid": {spec.Vars["slurm_packages_uid"], float64(b.env.Slurm.SlurmUID)},
		"slurmGid": {spec.Vars["slurm_packages_gid"], float64(b.env.Slurm.SlurmGID)},
	} {
		if ids[0] != nil && ids[0] != ids[1] {
			return impact.Set{}, fmt.Errorf("slurm.%s was %v and cannot become %v while the cluster exists: the files of the slurm user belong to the old id", what, ids[0], ids[1])
		}
	}
	set := impact.Set{Version: version, Files: spec.Files, Login: hostNames(b.env.HostsWithRole(config.RoleLogin))}
	if text, ok := b.heal.Stdin(b.name + "-database"); ok {
		var database slurmstep.DatabaseSpec
		if err := json.Unmarshal([]byte(text), &database); err != nil {
			return impact.Set{}, fmt.Errorf("reading what was placed last: %w", err)
		}
		for name, content := range database.Files {
			set.Files[name] = content
		}
	}
	return set, nil
}
