package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/accounting"
	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// configDir is where slurmctld reads its files on Debian.
const configDir = slurmconf.DefaultConfigDir

// ControllerSpec says what the controllers run with.
type ControllerSpec struct {
	// Cluster by its name in the accounting database.
	Cluster string `json:"cluster"`
	// Controllers by name, the primary first.
	Controllers []string `json:"controllers"`
	// Version is the release line.
	Version string `json:"version"`
	// DrainDeadline bounds the wait for jobs of hosts that leave, as a Go
	// duration.
	DrainDeadline string `json:"drainDeadline"`
	// Files of the configuration directory, by name.
	Files map[string]string `json:"files"`
	// Scripts names the files that are executable.
	Scripts []string `json:"scripts,omitempty"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

// ControllerResult is what an activation left.
type ControllerResult struct {
	// Nodes of the cluster, as a host list.
	Nodes string `json:"nodes"`
	// Activated is what the activation did.
	Activated slurmctl.Activated `json:"activated"`
}

func applyController(ctx context.Context, in *step.Input) (any, error) {
	var spec ControllerSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	deadline, err := time.ParseDuration(spec.DrainDeadline)
	if err != nil {
		return nil, fmt.Errorf("reading the drain deadline: %w", err)
	}
	nodes, err := nodesOf(spec.Files["slurm.conf"])
	if err != nil {
		return nil, err
	}
	applied, err := appliedNodes(in)
	if err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if err := refuseForeign(ctx, session, spec.Controllers, spec.files()); err != nil {
		return nil, err
	}
	if _, err := play(ctx, in, session, playbook.Controller, spec.Controllers, spec.Vars, nil); err != nil {
		return nil, err
	}
	if err := sharedState(ctx, session, spec.Controllers, stateDir(spec.Files["slurm.conf"])); err != nil {
		return nil, err
	}
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		return nil, err
	}
	before, err := placed(ctx, session, spec)
	if err != nil {
		return nil, err
	}
	plan, err := planOf(before, spec)
	if err != nil {
		return nil, err
	}
	slurmConf := spec.Files["slurm.conf"]
	if err := roomForState(ctx, session, spec.Controllers[0], slurmConf); err != nil {
		return nil, err
	}
	activated, err := ctl.Activate(ctx, controllerHosts(session, spec.Controllers), slurmctl.Activation{
		Files: spec.files(), Nodes: nodes, Applied: applied, Version: spec.Version,
		Restart: plan.Needs(impact.RestartController), Reshape: plan.Drained(), Empty: plan.Emptied(), State: stateMove(before, spec), DrainDeadline: deadline,
		Prepare: func(ctx context.Context) error {
			return accounting.Prepare(ctx, ctl.Runner, keepers(session, spec.Controllers), spec.Cluster, partitionQOS(slurmConf), slurmConf)
		},
	})
	if err != nil {
		return nil, withChoices(err, spec.Controllers[0])
	}
	for _, host := range spec.Controllers {
		// slurmdbd.conf belongs to the database's step, which may have this host too.
		if err := removeStale(ctx, session, host, append(slices.Sorted(maps.Keys(spec.Files)), "slurmdbd.conf")); err != nil {
			return nil, err
		}
	}
	return ControllerResult{Nodes: hostlist.Compress(names(nodes)), Activated: activated}, nil
}

func (s ControllerSpec) files() []slurmctl.File {
	var files []slurmctl.File
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		file := slurmctl.File{Path: configDir + "/" + name, Content: s.Files[name], Mode: 0o644}
		for _, script := range s.Scripts {
			if script == name {
				file.Mode = 0o755
			}
		}
		files = append(files, file)
	}
	return files
}

func controllerHosts(session *remote.Session, controllers []string) slurmctl.Host {
	hosts := make(slurmctl.Hosts, len(controllers))
	for i, name := range controllers {
		hosts[i] = slurmctl.Shell{Runner: session.Runner(name)}
	}
	if len(hosts) == 1 {
		return hosts[0]
	}
	return hosts
}

// appliedNodes are the nodes of the last activation that succeeded; nil when
// there was none.
func appliedNodes(in *step.Input) ([]string, error) {
	var previous ControllerResult
	known, err := in.Previous(&previous)
	if err != nil || !known {
		return nil, err
	}
	return hostlist.Expand(previous.Nodes)
}

// withChoices spells out what can be done, with commands on the controller,
// about jobs that keep a run from going on.
func withChoices(err error, controller string) error {
	var stopped interface{ Choices() []string }
	if !errors.As(err, &stopped) {
		return err
	}
	return fmt.Errorf("%w\nnothing of Slurm has changed, and what was closed to jobs for this is open again; the choices, with commands on %s:\n  - %s",
		err, controller, strings.Join(stopped.Choices(), "\n  - "))
}

func removeController(ctx context.Context, in *step.Input) error {
	var spec ControllerSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return hoststep.Unplay(ctx, in, session, playbook.ControllerRemove, spec.Controllers, spec.Vars)
}

// probeController asks slurmctld, and compares the files with what was placed.
func probeController(ctx context.Context, in *step.Input) error {
	var spec ControllerSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, host := range spec.Controllers {
		if err := hoststep.Active(ctx, session, host, "munge", "slurmctld"); err != nil {
			return err
		}
		if err := unchanged(ctx, session, host, spec.files()); err != nil {
			return err
		}
	}
	if err := roomForState(ctx, session, spec.Controllers[0], spec.Files["slurm.conf"]); err != nil {
		return err
	}
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		return err
	}
	if err := ctl.Ping(ctx); err != nil {
		return err
	}
	left, err := ctl.Retiring(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("partition %s takes no jobs since a run that was to remove it was cut off", strings.Join(left, ", "))
	}
	return err
}
