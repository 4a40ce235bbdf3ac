// Package heal finds out which parts of an environment need repair although
// nothing in its file has changed.
//
// Pulumi runs a resource again only when its inputs change. So every resource
// that does work carries a count of its repairs, and [Assess] says what each
// count has to be: the one in the state, or one more where the resource is
// unhealthy. A preview looks only at the state; a real update also probes
// every host and daemon once, bounded in time.
package heal

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
)

// probeTimeout bounds one probe. It is longer than an SSH connection attempt
// to a host that is gone, and leaves room for a busy controller.
const probeTimeout = 45 * time.Second

// probesAtOnce bounds how many probes run side by side; most of their time is
// spent waiting for hosts.
const probesAtOnce = 16

// Assessment is what the last update left and what has to be repaired.
type Assessment struct {
	prior    *priorstate.State
	counts   map[string]int
	findings []Finding
}

// Finding is one unhealthy resource.
type Finding struct {
	// Resource by name.
	Resource string
	// Reason says what is wrong.
	Reason string
}

// Assess reads the state of the stack and, in a real update, probes what it
// stands for. It changes nothing.
func Assess(ctx *pulumi.Context) (*Assessment, error) {
	prior, err := priorstate.Read(ctx)
	if err != nil {
		return nil, err
	}
	a := assess(ctx.Context(), prior, steps.All(), !ctx.DryRun())
	for _, f := range a.findings {
		if err := ctx.Log.Warn(fmt.Sprintf("needs repair: %s: %s", f.Resource, f.Reason), nil); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Count is the number of repairs of the named resource.
func (a *Assessment) Count(resource string) int {
	if a == nil {
		return 0
	}
	return a.counts[resource]
}

// CountWithout is the number of repairs of the named resource, one more where the last
// update left it without a release of Helm's that comes after it: a run was cut off
// between the two.
func (a *Assessment) CountWithout(resource, release string) int {
	if a == nil {
		return 0
	}
	count := a.counts[resource]
	if _, ok := a.prior.Command(resource); ok && !a.prior.Release(release) {
		count++
	}
	return count
}

// Findings lists what is unhealthy, by resource name.
func (a *Assessment) Findings() []Finding {
	if a == nil {
		return nil
	}
	return a.findings
}

// Stdin is the spec that the last update gave to the named resource, and
// whether there was one.
func (a *Assessment) Stdin(resource string) (string, bool) {
	if a == nil {
		return "", false
	}
	r, ok := a.prior.Command(resource)
	return r.Text("stdin"), ok
}

// Result is what the last update had from the named resource's step, and whether
// there was one. It may be a secret.
func (a *Assessment) Result(resource string) (string, bool) {
	if a == nil {
		return "", false
	}
	r, ok := a.prior.Command(resource)
	return r.Text("stdout"), ok
}

// Quarantined reports whether the last update left the host of the named
// resource in quarantine.
func (a *Assessment) Quarantined(resource string) bool {
	if a == nil {
		return false
	}
	r, _ := a.prior.Command(resource)
	outcome, ok := step.ReadOutcome(r.Text("stdout"))
	return ok && outcome.Status == step.StatusQuarantined
}

// Named lists the resources of the last update that run the named step, in
// lexical order.
func (a *Assessment) Named(stepName string) []string {
	if a == nil {
		return nil
	}
	var names []string
	for _, r := range a.prior.Commands() {
		if name, ok := step.NameOf(r.Text("create")); ok && name == stepName {
			names = append(names, r.Name)
		}
	}
	sort.Strings(names)
	return names
}

func assess(ctx context.Context, prior *priorstate.State, registry step.Registry, probe bool) *Assessment {
	a := &Assessment{prior: prior, counts: map[string]int{}}
	var (
		lock  sync.Mutex
		group sync.WaitGroup
		slots = make(chan struct{}, probesAtOnce)
	)
	// All counts are there before anybody adds to one.
	for _, r := range prior.Commands() {
		a.counts[r.Name], _ = strconv.Atoi(r.Environment(step.EnvHeal))
	}
	for _, r := range prior.Commands() {
		name, ok := step.NameOf(r.Text("create"))
		if !ok {
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			err := unhealthy(ctx, r, registry, name, probe)
			if err == nil {
				return
			}
			lock.Lock()
			defer lock.Unlock()
			a.counts[r.Name]++
			a.findings = append(a.findings, Finding{Resource: r.Name, Reason: err.Error()})
		}()
	}
	group.Wait()
	sort.Slice(a.findings, func(i, j int) bool { return a.findings[i].Resource < a.findings[j].Resource })
	return a
}

// unhealthy returns why a resource needs to run again, or nil.
func unhealthy(ctx context.Context, r priorstate.Resource, registry step.Registry, name string, probe bool) error {
	if outcome, ok := step.ReadOutcome(r.Text("stdout")); ok && outcome.Status == step.StatusQuarantined {
		return fmt.Errorf("quarantined by the last update: %s", outcome.Reason)
	}
	if !probe {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	lookup := func(entry string) string {
		if entry == step.EnvPrevious {
			return r.Text("stdout")
		}
		return r.Environment(entry)
	}
	in := step.NewInput([]byte(r.Text("stdin")), lookup, os.Stderr)
	return registry.Run(ctx, name, step.OperationProbe, in, os.Stderr)
}
