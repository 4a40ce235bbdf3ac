package local

import (
	"context"

	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Command is the resource command:local:Command: programs that run when it is created, changed and deleted.
type Command struct{}

var (
	_ infer.CustomResource[CommandInputs, CommandOutputs] = (*Command)(nil)
	_ infer.CustomUpdate[CommandInputs, CommandOutputs]   = (*Command)(nil)
	_ infer.CustomDelete[CommandOutputs]                  = (*Command)(nil)
)

// Annotate describes the resource in the schema.
func (c *Command) Annotate(a infer.Annotator) {
	a.Describe(&c, "Programs on this machine that run when the resource is created, changed and deleted. One that ends with another status than 0 fails the step.")
}

// CommandInputs is what a program says about a Command.
type CommandInputs struct {
	BaseInputs
	Create   *string `pulumi:"create,optional"`
	Update   *string `pulumi:"update,optional"`
	Delete   *string `pulumi:"delete,optional"`
	Triggers *[]any  `pulumi:"triggers,optional" provider:"replaceOnChanges"`
}

// Annotate describes the inputs in the schema.
func (c *CommandInputs) Annotate(a infer.Annotator) {
	a.Describe(&c.Create, "What runs when the resource is created, and when it changes and there is no update.")
	a.Describe(&c.Update, "What runs when any input has changed. Default: create.")
	a.Describe(&c.Delete, "What runs when the resource is deleted. Default: nothing.")
	a.Describe(&c.Triggers, "Values of any type; when one of them changes the resource is replaced.")
}

// CommandOutputs is the state of a Command.
type CommandOutputs struct {
	CommandInputs
	BaseOutputs
}

// Create runs the create command, except in a preview.
func (c *Command) Create(ctx context.Context, req infer.CreateRequest[CommandInputs]) (infer.CreateResponse[CommandOutputs], error) {
	response := infer.CreateResponse[CommandOutputs]{Output: CommandOutputs{CommandInputs: req.Inputs}}
	id, err := resource.NewUniqueHex(req.Name, 8, 0)
	if err != nil {
		return response, err
	}
	response.ID = id
	if req.DryRun || req.Inputs.Create == nil {
		return response, nil
	}
	err = run(ctx, *req.Inputs.Create, req.Inputs.BaseInputs, &response.Output.BaseOutputs)
	return response, err
}

// Update runs the update command, or create where there is none, except in a preview. Without either, the outputs of
// the last run stay.
func (c *Command) Update(ctx context.Context, req infer.UpdateRequest[CommandInputs, CommandOutputs]) (infer.UpdateResponse[CommandOutputs], error) {
	response := infer.UpdateResponse[CommandOutputs]{
		Output: CommandOutputs{CommandInputs: req.Inputs, BaseOutputs: req.State.BaseOutputs},
	}
	command := req.Inputs.Update
	if command == nil {
		command = req.Inputs.Create
	}
	if req.DryRun || command == nil {
		return response, nil
	}
	err := run(ctx, *command, req.Inputs.BaseInputs, &response.Output.BaseOutputs)
	return response, err
}

// Delete runs the delete command, with the inputs that are in the state.
func (c *Command) Delete(ctx context.Context, req infer.DeleteRequest[CommandOutputs]) (infer.DeleteResponse, error) {
	if req.State.Delete == nil {
		return infer.DeleteResponse{}, nil
	}
	return infer.DeleteResponse{}, run(ctx, *req.State.Delete, req.State.BaseInputs, &req.State.BaseOutputs)
}

// Run is the function command:local:run: a program that runs in every preview and every update.
type Run struct{}

// Annotate describes the function in the schema.
func (r *Run) Annotate(a infer.Annotator) {
	a.Describe(&r, "Runs a program on this machine, in previews too.")
}

// RunInputs is what a program says about a Run.
type RunInputs struct {
	BaseInputs
	Command string `pulumi:"command"`
}

// Annotate describes the inputs in the schema.
func (r *RunInputs) Annotate(a infer.Annotator) {
	a.Describe(&r.Command, "What runs.")
}

// RunOutputs is what a Run returns: its inputs, and what the program left behind.
type RunOutputs struct {
	RunInputs
	BaseOutputs
}

// Invoke runs the command.
func (r *Run) Invoke(ctx context.Context, req infer.FunctionRequest[RunInputs]) (infer.FunctionResponse[RunOutputs], error) {
	outputs := RunOutputs{RunInputs: req.Input}
	err := run(ctx, req.Input.Command, req.Input.BaseInputs, &outputs.BaseOutputs)
	return infer.FunctionResponse[RunOutputs]{Output: outputs}, err
}
