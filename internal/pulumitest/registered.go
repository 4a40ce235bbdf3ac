package pulumitest

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ByName are all registrations, by their names.
func (r *Recorder) ByName() map[string]pulumi.MockResourceArgs {
	all := map[string]pulumi.MockResourceArgs{}
	for _, args := range r.Resources() {
		all[args.Name] = args
	}
	return all
}

// DependsOn are the names of the resources that one directly waits for, in lexical
// order.
func DependsOn(args pulumi.MockResourceArgs) []string {
	var names []string
	for _, urn := range args.RegisterRPC.GetDependencies() {
		names = append(names, lastPart(urn))
	}
	slices.Sort(names)
	return names
}
