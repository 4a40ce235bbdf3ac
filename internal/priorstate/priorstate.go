// Package priorstate reads what a stack's resources were before the current
// update. It asks the engine, not the hosts, so a preview may use it; and it
// reads the resources rather than the stack's outputs, since the outputs of a
// failed update are not kept while its resources are.
package priorstate

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
)

// CommandType is the type token of the resources that run steps.
const CommandType = "command:local:Command"

// ReleaseType is the type token of releases of Helm's.
const ReleaseType = "kubernetes:helm.sh/v3:Release"

// Resource is one resource as the last update left it.
type Resource struct {
	// Name is the last part of the resource's URN.
	Name string
	// Type is its type token.
	Type string
	// Outputs by property name. Secrets are in clear: never log them.
	Outputs map[string]any
}

// Text returns a property that is a string, or "".
func (r Resource) Text(property string) string {
	text, _ := r.Outputs[property].(string)
	return text
}

// Environment returns one entry of a command's environment, or "".
func (r Resource) Environment(entry string) string {
	environment, _ := r.Outputs["environment"].(map[string]any)
	text, _ := environment[entry].(string)
	return text
}

// State is the resources that run steps, by name, and the releases of Helm.
type State struct {
	commands map[string]Resource
	releases map[string]bool
}

// Of makes a state from resources, for tests and for programs that keep state
// elsewhere.
func Of(resources ...Resource) *State {
	s := &State{commands: map[string]Resource{}, releases: map[string]bool{}}
	for _, r := range resources {
		s.add(r)
	}
	return s
}

func (s *State) add(r Resource) {
	switch r.Type {
	case CommandType:
		s.commands[r.Name] = r
	case ReleaseType:
		s.releases[r.Name] = true
	}
}

// Release tells whether there was a release of Helm's of that name.
func (s *State) Release(name string) bool { return s != nil && s.releases[name] }

// Command returns the command resource of that name, if there was one.
func (s *State) Command(name string) (Resource, bool) {
	if s == nil {
		return Resource{}, false
	}
	r, ok := s.commands[name]
	return r, ok
}

// Commands returns every command resource in no particular order.
func (s *State) Commands() []Resource {
	if s == nil {
		return nil
	}
	all := make([]Resource, 0, len(s.commands))
	for _, r := range s.commands {
		all = append(all, r)
	}
	return all
}

type readArgs struct {
	StackName string `pulumi:"stackName"`
}

type readResult struct {
	Outputs map[string]any `pulumi:"outputs"`
}

// readOutput carries the result as an output: the state holds secrets, and
// the engine hands those to outputs alone.
type readOutput struct{ *pulumi.OutputState }

func (readOutput) ElementType() reflect.Type { return reflect.TypeOf(readResult{}) }

func init() { pulumi.RegisterOutputType(readOutput{}) }

const (
	// halfWritten is what the engine says of a state that it writes itself at this
	// moment, as it does when an update begins.
	halfWritten = "failed to load checkpoint"
	reads       = 5
	pause       = 300 * time.Millisecond
)

func read(ctx *pulumi.Context, stack string) (readResult, error) {
	output := ctx.InvokeOutput("pulumi:pulumi:readStackResourceOutputs",
		&readArgs{StackName: stack}, readOutput{}, pulumi.InvokeOutputOptions{})
	awaited, err := internals.UnsafeAwaitOutput(ctx.Context(), output)
	result, _ := awaited.Value.(readResult)
	return result, err
}

// Read returns the state before this update. A stack that was never updated
// has an empty one.
func Read(ctx *pulumi.Context) (*State, error) {
	full := ctx.Organization() + "/" + ctx.Project() + "/" + ctx.Stack()
	result, err := read(ctx, full)
	for try := 1; try < reads && err != nil && strings.Contains(err.Error(), halfWritten); try++ {
		time.Sleep(pause)
		result, err = read(ctx, full)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state of %s: %w", full, err)
	}
	state := Of()
	for urn, raw := range result.Outputs {
		entry, _ := raw.(map[string]any)
		kind, _ := entry["type"].(string)
		outputs, _ := entry["outputs"].(map[string]any)
		name := urn[strings.LastIndex(urn, "::")+len("::"):]
		state.add(Resource{Name: name, Type: kind, Outputs: outputs})
	}
	return state, nil
}
