// Package kubestep holds the steps that build and keep a Kubernetes cluster.
package kubestep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// Names of the steps.
const (
	ControlPlane = "kubernetes-control-plane"
	Member       = "kubernetes-membership"
	Kubeconfig   = "kubernetes-kubeconfig"
	Smoke        = "kubernetes-smoke"
	Guard        = "kubernetes-guard"
)

const (
	// apiLimit bounds the wait for the API server of a host that runs one.
	apiLimit = 2 * time.Minute
	// readyLimit bounds the wait for a node that has joined: its images have to
	// be pulled, and its GPUs found.
	readyLimit = 5 * time.Minute
	// tokenLife is how long a token lets hosts in. It is taken back after use.
	tokenLife = 10 * time.Minute
)

// Steps returns the steps of a Kubernetes cluster.
func Steps() step.Registry {
	return step.Registry{
		{Name: ControlPlane, Title: "Run a control plane", Toolkit: toolkit(playbook.KubernetesNode, playbook.KubernetesControlPlane),
			Apply: applyControlPlane, Remove: removeControlPlane, Probe: probeControlPlane},
		{Name: Member, Title: "Bring a host into the cluster", Toolkit: toolkit(playbook.KubernetesNode, playbook.KubernetesWorker),
			Apply: applyMember, Remove: removeMember, Probe: probeMember},
		{Name: Kubeconfig, Title: "Read the administrator's kubeconfig", Apply: applyKubeconfig},
		{Name: Smoke, Title: "Run GPU pods on several hosts", Apply: applySmoke},
		{Name: Guard, Title: "Keep running pods from being destroyed", Apply: applyGuard, Remove: removeGuard},
	}
}

// Toolkit is the digest of what playbooks do.
func Toolkit(books ...playbook.Playbook) string {
	text := ""
	for _, book := range books {
		text += playbook.Digest(book)
	}
	return text
}

func toolkit(books ...playbook.Playbook) func() string {
	return func() string { return Toolkit(books...) }
}

// play runs a playbook on one host.
func play(ctx context.Context, in *step.Input, session *remote.Session, book playbook.Playbook, host string, vars map[string]any, secrets map[string]any) error {
	_, err := playbook.Run(ctx, session, book, playbook.Request{
		Groups: map[string][]string{"all": {host}}, Vars: vars, SecretVars: secrets, Progress: in.Log,
	})
	return err
}

// answering is a control plane whose host can be reached and whose API server
// answers; where none does, the first that can be reached.
func answering(ctx context.Context, in *step.Input, session *remote.Session, controlPlanes []string) (string, error) {
	if len(controlPlanes) == 0 {
		return "", errors.New("no control plane can be reached: the environment names none")
	}
	host, problems := hoststep.Race(ctx, controlPlanes, func(ctx context.Context, host string) error {
		return on(in, session, host).Up(ctx)
	})
	if host != "" {
		return host, nil
	}
	for i, problem := range problems {
		if !remote.IsUnreachable(problem) {
			return controlPlanes[i], nil
		}
	}
	return "", fmt.Errorf("no control plane can be reached: %w", errors.Join(problems...))
}

// client asks the control plane that answers.
func client(ctx context.Context, in *step.Input, session *remote.Session, controlPlanes []string) (*kubectl.Client, error) {
	host, err := answering(ctx, in, session, controlPlanes)
	if err != nil {
		return nil, err
	}
	return on(in, session, host), nil
}

// on is a client that asks one control plane.
func on(in *step.Input, session *remote.Session, host string) *kubectl.Client {
	return &kubectl.Client{Runner: session.Runner(host), Progress: func(line string) { in.Logf("%s", line) }}
}

// forget takes a token back, and tries again where the API server is too busy.
func forget(ctx context.Context, c *kubectl.Client, token string) error {
	for {
		err := c.ForgetToken(ctx, token)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// letIn runs join with what a host finds the cluster with and is let in by.
func letIn(ctx context.Context, c *kubectl.Client, endpoint string, join func(discovery string) error) (err error) {
	token, authority, err := c.Token(ctx, tokenLife)
	if err != nil {
		return err
	}
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if late := forget(cleaning, c, token); late != nil && c.Progress != nil {
			c.Progress(fmt.Sprintf("the token stays until its life of %s ends: %v", tokenLife, late))
		}
	}()
	return join(kubeconf.Discovery(endpoint, authority, token))
}
