// Package stepresource registers the Pulumi resource that runs one step.
package stepresource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Args describes a step resource.
type Args struct {
	// Step is the step's name in the registry.
	Step string
	// Spec is what is to be done. It is plain, so that a preview can show how
	// it changes; what is known only later belongs into Targets or Later.
	Spec any
	// Targets are the hosts that the step reaches.
	Targets []connection.Connection
	// Later holds further environment entries whose value may be an output.
	Later map[string]pulumi.StringInput
	// Secrets by name, each its own secret entry.
	Secrets map[string]pulumi.StringInput
	// Heal counts the repairs of this resource.
	Heal int
	// Toolkit is the digest of what the step places besides its spec.
	Toolkit string
	// SecretResult keeps the result out of logs and plain state.
	SecretResult bool
	// UsesPrevious gives an update the result of the run before.
	UsesPrevious bool
}

// New registers the resource. Deleting it runs the step's removal.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*local.Command, error) {
	spec, err := Encode(args.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the spec of %s: %w", name, err)
	}
	environment := pulumi.StringMap{step.EnvHeal: pulumi.String(strconv.Itoa(args.Heal))}
	if args.Toolkit != "" {
		environment[step.EnvToolkit] = pulumi.String(args.Toolkit)
	}
	if len(args.Targets) > 0 {
		environment[step.EnvTargets] = Targets(args.Targets)
		if list, ok := instances(args.Targets); ok {
			environment[step.EnvInstances] = list
		}
		if key := PrivateKey(args.Targets); key != nil {
			environment[step.EnvSecretPrefix+step.SecretSSHKey] = key
		}
	}
	for entry, value := range args.Later {
		environment[entry] = value
	}
	for secret, value := range args.Secrets {
		environment[step.EnvSecretPrefix+secret] = pulumi.ToSecret(value).(pulumi.StringOutput)
	}
	logging := local.LoggingStderr
	if args.SecretResult {
		logging = local.LoggingNone
		opts = append(opts, pulumi.AdditionalSecretOutputs([]string{"stdout"}))
	}
	return local.NewCommand(ctx, name, &local.CommandArgs{
		Create:                 pulumi.String(step.ApplyCommand(args.Step)),
		Update:                 pulumi.String(step.ApplyCommand(args.Step)),
		Delete:                 pulumi.String(step.RemoveCommand(args.Step)),
		Stdin:                  pulumi.String(spec),
		Environment:            environment,
		Logging:                &logging,
		AddPreviousOutputInEnv: pulumi.Bool(args.UsesPrevious),
	}, opts...)
}

// PrivateKey is the secret key of all connections, or nil where none has one.
// It fails when it is known that they differ.
func PrivateKey(connections []connection.Connection) pulumi.StringInput {
	var keys []any
	given := false
	for _, c := range connections {
		key := c.PrivateKey
		given = given || key != nil
		if key == nil {
			key = pulumi.String("")
		}
		keys = append(keys, key)
	}
	if !given {
		return nil
	}
	return pulumi.ToSecret(pulumi.All(keys...).ApplyT(func(known []any) (string, error) {
		for i, key := range known {
			if key != known[0] {
				return "", connection.DifferentKeys(connections[0].Name, connections[i].Name)
			}
		}
		return known[0].(string), nil
	})).(pulumi.StringOutput)
}

// instances lists the instances of the hosts that can be made anew, and
// whether there is such a host.
func instances(connections []connection.Connection) (pulumi.StringInput, bool) {
	var all []any
	for _, c := range connections {
		if c.Instance != nil {
			all = append(all, pulumi.Sprintf("%s=%s", c.Name, c.Instance))
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	return pulumi.All(all...).ApplyT(func(texts []any) string {
		words := make([]string, len(texts))
		for i, text := range texts {
			words[i] = text.(string)
		}
		return strings.Join(words, " ")
	}).(pulumi.StringOutput), true
}

// Encode writes a spec as JSON that diffs well: indented, keys in order, and
// no escapes that a person would have to undo.
func Encode(spec any) (string, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(spec); err != nil {
		return "", err
	}
	return buffer.String(), nil
}

// Targets is the JSON list of targets that a step reads.
func Targets(connections []connection.Connection) pulumi.StringOutput {
	var inputs []any
	for _, c := range connections {
		address := c.Address
		if address == nil {
			address = pulumi.String(c.Name)
		}
		keys := c.HostKeys
		if keys == nil {
			keys = pulumi.StringArray{}
		}
		inputs = append(inputs, address, keys)
	}
	return pulumi.All(inputs...).ApplyT(func(values []any) (string, error) {
		targets := make([]remote.Target, len(connections))
		for i, c := range connections {
			address, _ := values[2*i].(string)
			keys, _ := values[2*i+1].([]string)
			targets[i] = remote.Target{
				Name: c.Name, Address: address, Port: c.Port, User: c.User,
				HostKeys: keys, Bastion: c.Bastion, TrustOnFirstUse: c.TrustOnFirstUse,
			}
		}
		return Encode(targets)
	}).(pulumi.StringOutput)
}
