// Package gate ends a program's run with a failure when a host could not be
// brought to what was declared.
//
// Pulumi starts no new step after an error, so a host that fails must not fail
// its own resource: it ends in quarantine, and the others go on. The usual path
// is one [New] at the end of a program, with the outcomes of everything before
// it. slurm.NewCluster has one of its own.
package gate

import (
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/gatestep"
)

// Args says what a gate judges.
type Args struct {
	// Environment by name, for the failure's text. Plain.
	Environment string
	// Outcomes of hosts, as hosts.Hosts.Outcomes returns them. At least one.
	Outcomes []pulumi.StringOutput
}

// New registers the gate. It waits for every outcome, and fails the run when
// one of them is a quarantine, with the list of all such hosts and why.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*local.Command, error) {
	if args == nil || len(args.Outcomes) == 0 {
		return nil, errors.New("a gate needs outcomes to judge")
	}
	outcomes := make([]any, len(args.Outcomes))
	for i, outcome := range args.Outcomes {
		outcomes[i] = outcome
	}
	list := pulumi.All(outcomes...).ApplyT(func(texts []any) (string, error) {
		results := make([]string, len(texts))
		for i, text := range texts {
			results[i] = text.(string)
		}
		collected, err := gatestep.Collect(results)
		if err != nil {
			return "", err
		}
		data, err := json.Marshal(collected)
		return string(data), err
	}).(pulumi.StringOutput)
	return stepresource.New(ctx, name, stepresource.Args{
		Step: gatestep.Name, Spec: gatestep.Spec{Environment: args.Environment},
		Later: map[string]pulumi.StringInput{gatestep.EnvOutcomes: list},
	}, opts...)
}
