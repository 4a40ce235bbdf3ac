// Package hoststep holds the steps that prepare hosts for any scheduler.
package hoststep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Names of the steps.
const (
	Owner    = "host-owner"
	Baseline = "host-baseline"
	Home     = "host-home"
)

// EnvNames holds the lines of /etc/hosts that name the environment's hosts,
// where a resolver does not. Their addresses may be known only when the hosts
// exist.
const EnvNames = "GPUCLUSTER_NAMES"

// Steps returns the steps of hosts.
func Steps() step.Registry {
	return step.Registry{
		{Name: Owner, Title: "Name the state that hosts belong to", Apply: applyOwner},
		{Name: Baseline, Title: "Check a host against its declaration and prepare it", Toolkit: func() string { return playbook.Digest(playbook.Baseline) }, Apply: applyBaseline, Remove: removeBaseline, Probe: probeBaseline},
		{Name: Home, Title: "Have the shared home on a host", Toolkit: func() string { return playbook.Digest(playbook.SharedHome) }, Apply: applyHome, Remove: removeHome, Probe: probeHome},
	}
}

// BaselineSpec says what a host must be and have.
type BaselineSpec struct {
	// Host by name.
	Host string `json:"host"`
	// Essential hosts stop the run when they fail; others are quarantined.
	Essential bool `json:"essential,omitempty"`
	// Environment that the host is part of.
	Environment string `json:"environment"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

func (s BaselineSpec) groups() map[string][]string {
	return map[string][]string{"all": {s.Host}}
}

func applyBaseline(ctx context.Context, in *step.Input) (any, error) {
	var spec BaselineSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	vars := maps.Clone(spec.Vars)
	if later := in.Getenv(EnvNames); later != "" {
		known, _ := vars["host_baseline_names"].([]any)
		for _, line := range strings.Split(later, "\n") {
			known = append(known, line)
		}
		vars["host_baseline_names"] = known
	}
	want := markOf(spec, in)
	if want.Owner == "" {
		return nil, errors.New(EnvOwner + " names no owner")
	}
	err := onHost(ctx, in, spec.Host, func(session *remote.Session) error {
		found, err := readMark(ctx, session, spec.Host)
		if err != nil {
			return err
		}
		if found.othersThan(want) {
			return &takenError{host: spec.Host, by: found}
		}
		_, err = playbook.Run(ctx, session, playbook.Baseline, playbook.Request{
			Groups: spec.groups(), Vars: vars, Progress: in.Log,
		})
		if err != nil {
			return err
		}
		return writeMark(ctx, session, spec.Host, want)
	})
	// In quarantine the host would still get what comes after this step.
	if taken := (*takenError)(nil); errors.As(err, &taken) {
		return nil, err
	}
	return outcome(ctx, spec.Host, spec.Essential, err)
}

// outcome turns a failure of a host that is not essential into quarantine. A
// run that was interrupted, or could not be made from here, stays a failure: that
// is no fault of the host.
func outcome(ctx context.Context, host string, essential bool, err error) (any, error) {
	if err == nil {
		return step.Ready(host, ""), nil
	}
	var book *playbook.Error
	var command *remote.CommandError // also of a host that cannot be reached
	if essential || ctx.Err() != nil || !errors.As(err, &book) && !errors.As(err, &command) {
		return nil, err
	}
	return step.Quarantined(host, err), nil
}

// ifThere opens a session for a removal and calls use, unless the host is gone
// or belongs to another state. One that may be at work but cannot be asked fails it.
func ifThere(ctx context.Context, in *step.Input, host string, use func(*remote.Session) error) error {
	return onHost(ctx, in, host, func(session *remote.Session) error {
		there, err := session.There(ctx, host)
		if err != nil {
			return fmt.Errorf("nothing was removed from %s: %w", host, err)
		}
		if !there {
			in.Logf("%s is gone; nothing is removed from it", host)
			return nil
		}
		if taken, err := Taken(ctx, in, session, host); err != nil || taken {
			return err
		}
		return use(session)
	})
}

// onHost opens a session and calls use.
func onHost(ctx context.Context, in *step.Input, host string, use func(*remote.Session) error) error {
	session, err := in.Connect(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", host, err)
	}
	defer session.Close()
	return use(session)
}

// removeBaseline takes back what is the toolkit's alone. Accounts and packages
// stay: others may use them by now.
func removeBaseline(ctx context.Context, in *step.Input) error {
	var spec BaselineSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	return ifThere(ctx, in, spec.Host, func(session *remote.Session) error {
		_, err := playbook.Run(ctx, session, playbook.BaselineRemove, playbook.Request{Groups: spec.groups(), Progress: in.Log})
		if err != nil {
			return err
		}
		return removeMark(ctx, session, spec.Host)
	})
}

// probeBaseline tells a host that was installed anew, whose key may be as good
// as the old one, and one that somebody else has taken.
func probeBaseline(ctx context.Context, in *step.Input) error {
	var spec BaselineSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	return onHost(ctx, in, spec.Host, func(session *remote.Session) error {
		found, err := readMark(ctx, session, spec.Host)
		if err != nil {
			return err
		}
		return found.differs(spec.Host, markOf(spec, in))
	})
}
