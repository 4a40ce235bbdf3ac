package kubestep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gpucluster/pulumi-gpucluster/internal/etcdctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// goingFile is on the control planes of a cluster that is being destroyed: the
// guard has let it go, and nobody has to go on without a control plane. A reboot
// forgets it.
const goingFile = "/run/gpucluster-kubernetes-going"

// markGoing says on every control plane that can be reached whether the whole
// cluster goes.
func markGoing(ctx context.Context, session *remote.Session, controlPlanes []string, going bool) error {
	command := "rm -f " + goingFile
	if going {
		command = "touch " + goingFile
	}
	problems := make([]error, len(controlPlanes))
	var group sync.WaitGroup
	for i, host := range controlPlanes {
		group.Go(func() {
			if _, err := session.Run(ctx, host, command, nil); !remote.IsUnreachable(err) {
				problems[i] = err
			}
		})
	}
	group.Wait()
	return errors.Join(problems...)
}

func isGoing(ctx context.Context, session *remote.Session, host string) bool {
	out, err := session.Run(ctx, host, "[ ! -e "+goingFile+" ] || echo going", nil)
	return err == nil && out != ""
}

// removeControlPlane takes a host out of the control planes, whether it is there
// or not.
func removeControlPlane(ctx context.Context, in *step.Input) error {
	var spec ControlPlaneSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	p := controlPlane{spec, session, in}
	if err := p.letGo(ctx); err != nil {
		return fmt.Errorf("%s was not removed: %w", spec.Host, err)
	}
	return hoststep.Unplay(ctx, in, session, playbook.KubernetesRemove, []string{spec.Host}, nil)
}

// letGo has the others go on without the host, unless nobody has to.
func (p controlPlane) letGo(ctx context.Context) error {
	others := p.survey(ctx)
	by := others.serving()
	switch {
	case hoststep.Overridden(), by != "" && isGoing(ctx, p.session, by), isGoing(ctx, p.session, p.spec.Host):
		return nil
	case by != "":
		return p.leaveEtcd(ctx, by)
	}
	// Without anybody who works, the host may hold the only copy that can be had.
	if err := others.atWork(); err != nil {
		return fmt.Errorf("no other control plane serves the API: mend them and run it again, or destroy the cluster by setting %s=yes: %w", hoststep.OverrideVariable, err)
	}
	return nil
}

// leaveEtcd saves etcd's data, and takes the host's member out of etcd and its
// node out of the cluster. That goes first: with the host away, the majority
// would have to be found among the others.
func (p controlPlane) leaveEtcd(ctx context.Context, by string) error {
	if err := snapshotOn(ctx, p.in, p.session, by); err != nil {
		return err
	}
	members, err := etcdOn(p.session, by).Members(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", by, err)
	}
	i := slices.IndexFunc(members, func(m etcdctl.Member) bool { return m.Name == p.spec.Host })
	if i < 0 {
		return on(p.in, p.session, by).DeleteNode(ctx, p.spec.Host)
	}
	err = p.forget(ctx, by, members[i])
	if errors.Is(err, etcdctl.ErrQuorum) {
		return fmt.Errorf("%w: mend the control planes that do not answer and run it again, or keep %s in the environment", err, p.spec.Host)
	}
	return err
}
