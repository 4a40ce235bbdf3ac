package pulumitest

import (
	"fmt"
	"sort"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Resources are the registrations, in no particular order.
func (r *Recorder) Resources() []pulumi.MockResourceArgs { return r.resources }

// Commands are the registrations of resources that run steps, by name.
func (r *Recorder) Commands() map[string]pulumi.MockResourceArgs {
	all := map[string]pulumi.MockResourceArgs{}
	for _, args := range r.resources {
		if args.TypeToken == priorstate.CommandType {
			all[args.Name] = args
		}
	}
	return all
}

// Command is the resource of that name that runs a step. It panics where there
// is none.
func (r *Recorder) Command(name string) pulumi.MockResourceArgs {
	args, ok := r.Commands()[name]
	if !ok {
		panic(fmt.Sprintf("pulumitest: no command resource is called %q", name))
	}
	return args
}

// Step is the name of the step that a command resource runs.
func Step(args pulumi.MockResourceArgs) string {
	name, _ := step.NameOf(args.Inputs["create"].StringValue())
	return name
}

// Entry is one entry of a command's environment; secrets are unwrapped.
func Entry(args pulumi.MockResourceArgs, entry string) string {
	value := plain(args.Inputs["environment"])
	if !value.IsObject() {
		return ""
	}
	text := plain(value.ObjectValue()[resource.PropertyKey(entry)])
	if !text.IsString() {
		return ""
	}
	return text.StringValue()
}

// plain takes the value out of secrets and outputs.
func plain(v resource.PropertyValue) resource.PropertyValue {
	for {
		switch {
		case v.IsSecret():
			v = v.SecretValue().Element
		case v.IsOutput():
			v = v.OutputValue().Element
		default:
			return v
		}
	}
}

// Inventory lists type, name and parent of every resource, a line each,
// sorted: what the URNs are made of.
func (r *Recorder) Inventory() string {
	var lines []string
	for _, args := range r.resources {
		lines = append(lines, fmt.Sprintf("%s %s (parent %s)", args.TypeToken, args.Name, lastPart(args.RegisterRPC.GetParent())))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n"
}

func lastPart(urn string) string {
	parts := strings.Split(urn, "::")
	return parts[len(parts)-1]
}

// Before lists the names of the command resources that have to be done before
// the named one, directly or through others, sorted.
func (r *Recorder) Before(name string) []string {
	commands := r.Commands()
	seen := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		for _, urn := range commands[name].RegisterRPC.GetDependencies() {
			if on := lastPart(urn); !seen[on] && commands[on].Name != "" {
				seen[on] = true
				walk(on)
			}
		}
	}
	walk(name)
	var names []string
	for on := range seen {
		names = append(names, on)
	}
	sort.Strings(names)
	return names
}

// Clear is the text of a value without what is secret in it.
func Clear(v resource.PropertyValue) string {
	switch {
	case v.IsSecret(), v.IsOutput() && v.OutputValue().Secret:
		return ""
	case v.IsOutput():
		return Clear(v.OutputValue().Element)
	case v.IsObject():
		var b strings.Builder
		for _, child := range v.ObjectValue() {
			b.WriteString(Clear(child) + "\n")
		}
		return b.String()
	case v.IsArray():
		var b strings.Builder
		for _, child := range v.ArrayValue() {
			b.WriteString(Clear(child) + "\n")
		}
		return b.String()
	case v.IsString():
		return v.StringValue()
	}
	return ""
}

// State is the state that the recorded program leaves, for the next one's
// [Recorder.Prior]: its commands, their names after a prefix.
func (r *Recorder) State(prefix string) map[string]PriorResource {
	state := map[string]PriorResource{}
	for name, args := range r.Commands() {
		outputs := args.Inputs.Copy()
		outputs["stdout"] = resource.MakeSecret(resource.NewStringProperty("{}"))
		state["urn:pulumi:s::gpucluster::command:local:Command::"+prefix+name] = PriorResource{Type: args.TypeToken, Outputs: outputs}
	}
	return state
}
