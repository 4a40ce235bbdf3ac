package kubestep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// MemberSpec says which scheduler a host belongs to and as what.
type MemberSpec struct {
	// Host by name.
	Host string `json:"host"`
	// Owner is the scheduler that the host works for.
	Owner string `json:"owner"`
	// ControlPlanes by name.
	ControlPlanes []string `json:"controlPlanes"`
	// Endpoint of the API, host:port.
	Endpoint string `json:"endpoint"`
	// Version of Kubernetes, such as "v1.36.3". A member whose kubelet has
	// another one is emptied first.
	Version string `json:"version"`
	// GPUs that the host offers, which may be slices or shares of those it has.
	GPUs int `json:"gpus"`
	// Seen is how many GPUs a pod with all of them sees. Default: as many.
	Seen int `json:"seen,omitempty"`
	// GPULimit bounds the wait for them, as a Go duration. Default "5m".
	GPULimit string `json:"gpuLimit,omitempty"`
	// Labels of ours that the node has.
	Labels map[string]string `json:"labels,omitempty"`
	// CheckImage is the image of the pod that validates the host: it lists GPUs
	// as nvidia-smi -L does.
	CheckImage string `json:"checkImage"`
	// EvictionDeadline bounds the wait for pods when the host leaves or is
	// upgraded, as a Go duration.
	EvictionDeadline string `json:"evictionDeadline"`
	// Node are the variables of the playbook that prepares any node.
	Node map[string]any `json:"node"`
	// Vars of the playbook for workers.
	Vars map[string]any `json:"vars"`
}

type member struct {
	spec    MemberSpec
	session *remote.Session
	cluster *kubectl.Client
	in      *step.Input
	// upgrading tells that the host is on its way to another release.
	upgrading bool
}

func applyMember(ctx context.Context, in *step.Input) (any, error) {
	var spec MemberSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	cluster, err := client(ctx, in, session, spec.ControlPlanes)
	if err != nil {
		return nil, err
	}
	m := &member{spec: spec, session: session, cluster: cluster, in: in}
	why := hoststep.Unprepared(in)
	if why == nil {
		detail, err := m.join(ctx)
		if err == nil {
			return step.Ready(spec.Host, detail), nil
		}
		if why = m.failure(ctx, err); why == nil || ctx.Err() != nil {
			return nil, err
		}
	}
	if err := cluster.Close(ctx, spec.Host); err != nil && !errors.Is(err, kubectl.ErrNotFound) {
		in.Logf("%s could not be closed: %v", spec.Host, err)
	}
	if m.upgrading {
		return nil, m.stopped(why)
	}
	return step.Quarantined(spec.Host, why), nil
}

// failure is err if it says that something is wrong with the host, else nil:
// what is wrong elsewhere must not close hosts that work.
func (m *member) failure(ctx context.Context, err error) error {
	if !hoststep.IsTheHosts(err, m.spec.Host) || m.cluster.Up(ctx) != nil {
		return nil
	}
	return err
}

// join brings the host in: closed, then a real pod on all its GPUs, then open. A
// host that is open and works and needs nothing but its files stays open.
func (m *member) join(ctx context.Context) (string, error) {
	node, err := m.cluster.Node(ctx, m.spec.Host)
	known := err == nil
	if err != nil && !errors.Is(err, kubectl.ErrNotFound) {
		return "", hoststep.NotTheHosts{Err: err}
	}
	if known {
		if err := m.beginUpgrade(ctx, node); err != nil {
			return "", err
		}
	}
	usable := known && node.Ready && !node.Closed && node.GPUs == m.spec.GPUs && !m.upgrading
	if known && !usable {
		if err := m.cluster.Close(ctx, m.spec.Host); err != nil {
			return "", hoststep.NotTheHosts{Err: err}
		}
	}
	if err := m.place(ctx, known); err != nil {
		return "", err
	}
	if err := m.cluster.WaitRelease(ctx, m.spec.Host, m.spec.Version, readyLimit); err != nil {
		return "", err
	}
	if err := letServe(ctx, m.cluster, m.session, m.spec.Host); err != nil {
		return "", err
	}
	limit, err := m.spec.limit()
	if err != nil {
		return "", hoststep.NotTheHosts{Err: err}
	}
	if err := m.cluster.WaitReady(ctx, m.spec.Host, m.spec.GPUs, limit); err != nil {
		return "", err
	}
	if err := m.cluster.Label(ctx, m.spec.Host, m.spec.Labels); err != nil {
		return "", err
	}
	if usable {
		return m.detail(), nil
	}
	detail, err := m.validate(ctx)
	if err != nil {
		return "", err
	}
	if err := m.cluster.Uncordon(ctx, m.spec.Host); err != nil {
		return "", err
	}
	return detail, m.cluster.Open(ctx, m.spec.Host)
}

// place runs the playbooks. A host that has joined before needs no credential.
func (m *member) place(ctx context.Context, known bool) error {
	joined, err := isMember(ctx, m.session, m.spec.Host)
	if err == nil && joined && !known {
		joined, err = m.astray(ctx)
	}
	if err != nil {
		return err
	}
	if err := play(ctx, m.in, m.session, playbook.KubernetesNode, m.spec.Host, m.spec.Node, nil); err != nil {
		return hostsOrNot(err)
	}
	run := func(secrets map[string]any) error {
		return hostsOrNot(play(ctx, m.in, m.session, playbook.KubernetesWorker, m.spec.Host, m.spec.Vars, secrets))
	}
	if joined {
		return run(nil)
	}
	return letIn(ctx, m.cluster, m.spec.Endpoint, func(discovery string) error {
		return run(map[string]any{"kubernetes_worker_discovery": discovery})
	})
}

// hostsOrNot tells a failed task from a playbook that could not be run.
func hostsOrNot(err error) error {
	var failed *playbook.Error
	if err == nil || errors.As(err, &failed) {
		return err
	}
	return hoststep.NotTheHosts{Err: err}
}

// validate runs a pod on all GPUs of the closed host that no pods of people hold:
// those ran on while its kubelet did not.
func (m *member) validate(ctx context.Context) (string, error) {
	work, err := m.cluster.Work(ctx, m.spec.Host)
	if err != nil {
		return "", err
	}
	gpus := m.spec.GPUs - work.GPUs
	if work.GPUs > 0 && gpus <= 0 {
		return "not validated anew: " + work.String(), nil
	}
	output, err := m.cluster.RunCheck(ctx, kubectl.Check{
		Name: "validate-" + m.spec.Host, Node: m.spec.Host, GPUs: gpus, Image: m.spec.CheckImage, Command: []string{"nvidia-smi", "-L"},
	})
	if err != nil {
		return "", err
	}
	// A part of GPUs that are shared shows some number of them.
	if seen := gpusIn(output); seen != cmp.Or(m.spec.Seen, gpus) && (seen == 0 || m.spec.Seen == 0 || work.GPUs == 0) {
		return "", fmt.Errorf("a pod that asked for %d GPUs sees %d: %s", gpus, seen, strings.TrimSpace(output))
	}
	if work.GPUs > 0 {
		return fmt.Sprintf("validation pod passed on %d GPUs; %s", gpus, work), nil
	}
	return m.detail(), nil
}

// limit is how long the host may take until it is ready, with all its GPUs.
func (s MemberSpec) limit() (time.Duration, error) {
	if s.GPULimit == "" {
		return readyLimit, nil
	}
	limit, err := time.ParseDuration(s.GPULimit)
	if err != nil {
		return 0, fmt.Errorf("reading the limit for GPUs: %w", err)
	}
	return max(limit, readyLimit), nil
}

// gpusIn counts the GPUs that nvidia-smi -L lists.
func gpusIn(output string) int {
	count := 0
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "GPU ") {
			count++
		}
	}
	return count
}

func (m *member) detail() string {
	if m.spec.GPUs == 0 {
		return "validation pod passed"
	}
	return fmt.Sprintf("validation pod passed on %d GPUs", m.spec.GPUs)
}

// removeMember evicts the host's pods, as their budgets allow it, and takes the
// host out of the cluster. Where the whole cluster goes, the guard has let it.
func removeMember(ctx context.Context, in *step.Input) error {
	var spec MemberSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := leave(ctx, in, session, spec); err != nil {
		return err
	}
	return hoststep.Unplay(ctx, in, session, playbook.KubernetesRemove, []string{spec.Host}, nil)
}

// leave takes the host out of what the control plane knows, where there is one.
func leave(ctx context.Context, in *step.Input, session *remote.Session, spec MemberSpec) error {
	host, err := hoststep.FirstThere(ctx, session, spec.ControlPlanes)
	if err != nil {
		return err
	}
	if host == "" {
		in.Logf("%s leaves no cluster: %s is gone", spec.Host, strings.Join(spec.ControlPlanes, ", "))
		return nil
	}
	cluster, err := client(ctx, in, session, spec.ControlPlanes)
	if err != nil {
		return err
	}
	if _, err := cluster.Node(ctx, spec.Host); errors.Is(err, kubectl.ErrNotFound) {
		return nil
	} else if err != nil {
		if hoststep.Overridden() {
			in.Logf("%s=yes: %s is taken out although the API server does not answer", hoststep.OverrideVariable, spec.Host)
			return nil
		}
		return err
	}
	if !hoststep.Overridden() {
		if err := empty(ctx, cluster, spec, "delete them yourself, or keep the host in the environment"); err != nil {
			return err
		}
	}
	return cluster.DeleteNode(ctx, spec.Host)
}

// empty evicts the host's pods. The choices are what people can do instead of
// waiting for those that stay.
func empty(ctx context.Context, cluster *kubectl.Client, spec MemberSpec, choices string) error {
	deadline, err := time.ParseDuration(spec.EvictionDeadline)
	if err != nil {
		return fmt.Errorf("evictionDeadline: %w", err)
	}
	var blocked *kubectl.Blocked
	if err := cluster.Drain(ctx, spec.Host, deadline); errors.As(err, &blocked) {
		return fmt.Errorf("%w\nwait for them or raise evictionDeadline and run it again, %s", err, choices)
	} else if err != nil {
		return err
	}
	return nil
}

// probeMember looks at the host's daemons and at what the cluster thinks.
func probeMember(ctx context.Context, in *step.Input) error {
	var spec MemberSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := hoststep.Active(ctx, session, spec.Host, daemons(spec.Endpoint)...); err != nil {
		return err
	}
	cluster, err := client(ctx, in, session, spec.ControlPlanes)
	if err != nil || cluster.Up(ctx) != nil {
		return nil // the control plane's own probe says so
	}
	node, err := cluster.Node(ctx, spec.Host)
	switch {
	case err != nil:
		return err
	case node.Closed:
		return fmt.Errorf("%s is still closed", spec.Host)
	case node.Marked:
		return fmt.Errorf("%s is still cordoned by a run that was cut off", spec.Host)
	case !node.Ready:
		return fmt.Errorf("%s is not ready: %s", spec.Host, node.Why)
	case node.GPUs < spec.GPUs:
		return fmt.Errorf("%s offers %d GPUs, and %d are declared", spec.Host, node.GPUs, spec.GPUs)
	}
	if err := relabelled(node, spec.Labels); err != nil {
		return err
	}
	return probeServing(ctx, cluster, spec.Host)
}

// relabelled tells of the first label of ours, by name, that somebody has changed or
// taken away: jobs are admitted for the hosts that should have it.
func relabelled(node kubectl.Node, labels map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if have, ok := node.Labels[key]; !ok {
			return fmt.Errorf("%s has lost the label %s=%s", node.Name, key, labels[key])
		} else if have != labels[key] {
			return fmt.Errorf("%s has the label %s=%s, not %s", node.Name, key, have, labels[key])
		}
	}
	return nil
}
