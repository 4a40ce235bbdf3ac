// Package step is the contract between a Pulumi resource and the work it
// stands for.
//
// Every resource that does something is a command resource that runs
// "gpucluster step <name> apply", and "gpucluster step <name> remove" when it
// is deleted. What is to be done arrives as JSON on standard input, where a
// preview shows it line by line; connections arrive in GPUCLUSTER_TARGETS, and
// secrets one by one in GPUCLUSTER_SECRET_<NAME>. The result goes to standard
// output as JSON without times or other accidents, so that an unchanged host
// gives an unchanged result; progress goes to standard error.
//
// Because a step needs nothing else, a delete works from the state and an
// installed gpucluster program alone.
package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// Names of the environment entries of a step.
const (
	// EnvTargets holds a JSON list of the hosts that the step may reach.
	EnvTargets = "GPUCLUSTER_TARGETS"
	// EnvHeal counts repairs. It has no meaning for a step: a changed count
	// makes Pulumi run an otherwise unchanged step again.
	EnvHeal = "GPUCLUSTER_HEAL"
	// EnvToolkit is the digest of what the step places on hosts besides its
	// spec; a newer toolkit thereby runs the step again.
	EnvToolkit = "GPUCLUSTER_TOOLKIT"
	// EnvInstances names the instances of the hosts that can be made anew. It
	// has no meaning for a step: another instance makes Pulumi run the step
	// again, on a host that has lost what was installed on it.
	EnvInstances = "GPUCLUSTER_INSTANCES"
	// EnvSecretPrefix starts the name of every secret's entry.
	EnvSecretPrefix = "GPUCLUSTER_SECRET_"
	// SecretSSHKey names the private key that logs in to hosts.
	SecretSSHKey = "SSH_KEY"
	// EnvPrevious is where the command resource leaves the result of the run
	// before this one, for the steps that ask for it.
	EnvPrevious = "PULUMI_COMMAND_STDOUT"
)

// Step is one kind of work on hosts.
type Step struct {
	// Name as it stands in the command, for example "slurm-controller".
	Name string
	// Title says in a few words what the step does.
	Title string
	// Toolkit is the digest of what Apply places besides its spec. A resource
	// that was declared with another one is refused. Optional.
	Toolkit func() string
	// Apply brings the world to what the spec says and returns the result.
	// It may be run again at any time.
	Apply func(context.Context, *Input) (any, error)
	// Remove takes back what Apply did. It succeeds where nothing is left.
	Remove func(context.Context, *Input) error
	// Probe reports what keeps the step's work from being healthy, or nil. It
	// changes nothing. A step without a probe is never repaired.
	Probe func(context.Context, *Input) error
}

// Input is what a step is given.
type Input struct {
	spec   []byte
	lookup func(string) string
	// Log takes progress for people, line by line.
	Log io.Writer
}

// NewInput makes the input of one run: the spec, a look-up of environment
// entries that returns "" for an absent one, and where progress goes.
func NewInput(spec []byte, lookup func(string) string, log io.Writer) *Input {
	return &Input{spec: spec, lookup: lookup, Log: log}
}

// Spec decodes the spec strictly into v.
func (in *Input) Spec(v any) error {
	decoder := json.NewDecoder(strings.NewReader(string(in.spec)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("reading the step's spec: %w (was it written by another release of gpucluster?)", err)
	}
	return nil
}

// SpecLoosely decodes the spec for a removal: fields that this release does
// not know are passed over, since an older release may have written them.
func (in *Input) SpecLoosely(v any) error {
	if err := json.Unmarshal(in.spec, v); err != nil {
		return fmt.Errorf("reading the step's spec: %w", err)
	}
	return nil
}

// Secret returns the named secret, or "" where none was given.
func (in *Input) Secret(name string) string {
	return in.lookup(EnvSecretPrefix + name)
}

// Previous decodes the result of the run before this one into v and reports
// whether there was one.
func (in *Input) Previous(v any) (bool, error) {
	text := in.lookup(EnvPrevious)
	if text == "" {
		return false, nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return false, fmt.Errorf("reading the previous result: %w", err)
	}
	return true, nil
}

// Getenv returns another entry of the environment, or "".
func (in *Input) Getenv(name string) string { return in.lookup(name) }

// Logf writes one line of progress.
func (in *Input) Logf(format string, args ...any) {
	fmt.Fprintf(in.Log, format+"\n", args...)
}

// Targets returns the hosts that the step may reach.
func (in *Input) Targets() ([]remote.Target, error) {
	var targets []remote.Target
	text := in.lookup(EnvTargets)
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &targets); err != nil {
		return nil, fmt.Errorf("reading %s: %w", EnvTargets, err)
	}
	return targets, nil
}

// checkToolkit compares what the resource was declared with and what this
// program would do. They differ when the Pulumi program and the gpucluster
// program were built from different sources.
func (in *Input) checkToolkit(digest string) error {
	declared := in.lookup(EnvToolkit)
	if declared == "" || declared == digest {
		return nil
	}
	return errors.New("the gpucluster program on PATH was built from other sources than the Pulumi program: run make tools, or install the same release of both")
}

// Connect opens a session to the step's targets. The caller closes it.
func (in *Input) Connect(ctx context.Context) (*remote.Session, error) {
	targets, err := in.Targets()
	if err != nil {
		return nil, err
	}
	session, err := remote.Open(ctx, remote.Config{Targets: targets, PrivateKey: in.Secret(SecretSSHKey)})
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return session, nil
}
