package step

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Operation is what a step is asked to do.
type Operation string

// The operations of a step.
const (
	OperationApply  Operation = "apply"
	OperationRemove Operation = "remove"
	OperationProbe  Operation = "probe"
)

// Registry holds the steps that a program knows.
type Registry []Step

// Find returns the step with that name.
func (r Registry) Find(name string) (Step, bool) {
	for _, s := range r {
		if s.Name == name {
			return s, true
		}
	}
	return Step{}, false
}

// Names lists the steps in the order of the registry.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, s := range r {
		names[i] = s.Name
	}
	return names
}

// Run does one operation of one step and writes its result to out.
func (r Registry) Run(ctx context.Context, name string, op Operation, in *Input, out io.Writer) error {
	s, ok := r.Find(name)
	if !ok {
		return fmt.Errorf("no step is called %q; the steps are %s", name, strings.Join(r.Names(), ", "))
	}
	switch op {
	case OperationApply:
		if s.Toolkit != nil {
			if err := in.checkToolkit(s.Toolkit()); err != nil {
				return err
			}
		}
		result, err := s.Apply(ctx, in)
		if err != nil {
			return err
		}
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(result)
	case OperationRemove:
		if s.Remove == nil {
			return nil
		}
		return s.Remove(ctx, in)
	case OperationProbe:
		if s.Probe == nil {
			return nil
		}
		return s.Probe(ctx, in)
	}
	return fmt.Errorf("%q is no operation of a step; use apply, remove or probe", op)
}

// ApplyCommand is the shell command that a resource runs to apply a step.
func ApplyCommand(name string) string { return "gpucluster step " + name + " apply" }

// RemoveCommand is the shell command that a resource runs to remove a step.
func RemoveCommand(name string) string { return "gpucluster step " + name + " remove" }

// NameOf returns the step that an apply command runs, and whether it is one.
func NameOf(command string) (string, bool) {
	name, ok := strings.CutPrefix(command, "gpucluster step ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, " apply")
}
