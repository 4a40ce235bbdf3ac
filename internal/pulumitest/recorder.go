// Package pulumitest runs Pulumi programs in tests without an engine: a
// [Recorder] stands in for it, keeps what the program registers, and answers
// as the steps would.
//
// Nothing is done on any host.
package pulumitest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Results are what steps answer by default, by their names. Each value that
// would be a secret is one of [Secrets].
var Results = map[string]string{
	"lab-key":     `{"private":"a-private-key","public":"ssh-ed25519 AAAA"}`,
	"lab-host":    `{"name":"h","address":"192.0.2.1","hostKey":"ssh-ed25519 BBBB"}`,
	"lab-network": `{"name":"n","subnet":"192.0.2.0/24"}`,
	"host-owner":  `"an-owner"`,
	"slurm-keys":  `{"munge":"a-munge-key","database":"a-password"}`,

	"kubernetes-kubeconfig": `{"kubeconfig":"{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}], clusters: [{name: k, cluster: {server: 'https://192.0.2.1:6443'}}], users: [{name: u, user: {token: a-kubeconfig}}]}"}`,
}

// Secrets are the clear texts in [Results] that must stay secret.
var Secrets = []string{"a-private-key", "a-munge-key", "a-password", "a-kubeconfig"}

// ready is what every other step answers, with the resource's name as the host.
const ready = `{"host":%q,"status":"ready"}`

// Recorder stands in for the engine.
type Recorder struct {
	// Results by step, in place of those of the package.
	Results map[string]string
	// Prior is the state that the last update left: properties by URN, each
	// with its type and outputs. Default: a stack that was never updated.
	Prior map[string]PriorResource
	// Stacks are the outputs of other stacks that a program refers to, by the
	// name that it refers to them by.
	Stacks map[string]resource.PropertyMap

	mu        sync.Mutex
	resources []pulumi.MockResourceArgs
}

// PriorResource is a resource of the state before this run.
type PriorResource struct {
	// Type token.
	Type string
	// Outputs by property name.
	Outputs resource.PropertyMap
}

// Run runs a program as the stack of that name and returns what it
// registered. The program's own error fails the test.
func Run(t *testing.T, stack string, program pulumi.RunFunc, options ...pulumi.RunOption) *Recorder {
	t.Helper()
	r := &Recorder{}
	if err := r.Run(stack, program, options...); err != nil {
		t.Fatal(err)
	}
	return r
}

// Run runs a program as the stack of that name and returns its error.
func (r *Recorder) Run(stack string, program pulumi.RunFunc, options ...pulumi.RunOption) error {
	return pulumi.RunErr(program, append([]pulumi.RunOption{pulumi.WithMocks("gpucluster", stack, r)}, options...)...)
}

// NewResource records a registration.
func (r *Recorder) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resources = append(r.resources, args)
	outputs := args.Inputs.Copy()
	switch args.TypeToken {
	case "pulumi:pulumi:StackReference":
		outputs["outputs"] = resource.NewObjectProperty(r.Stacks[args.ID])
	case priorstate.CommandType:
		outputs["stdout"] = resource.NewStringProperty(r.result(args.Name, args.Inputs["create"].StringValue()))
	}
	return args.Name + "-id", outputs, nil
}

// Call answers the question for the prior state, and no other.
func (r *Recorder) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if args.Token != "pulumi:pulumi:readStackResourceOutputs" {
		return resource.PropertyMap{}, nil
	}
	all := resource.PropertyMap{}
	for urn, prior := range r.Prior {
		all[resource.PropertyKey(urn)] = resource.NewObjectProperty(resource.PropertyMap{
			"type": resource.NewStringProperty(prior.Type), "outputs": resource.NewObjectProperty(prior.Outputs),
		})
	}
	return resource.PropertyMap{"outputs": resource.NewObjectProperty(all)}, nil
}

// result is what the step of a command resource answers.
func (r *Recorder) result(resource, command string) string {
	name, _ := step.NameOf(command)
	for _, results := range []map[string]string{r.Results, Results} {
		if result, ok := results[name]; ok {
			return result
		}
	}
	return fmt.Sprintf(ready, resource)
}
