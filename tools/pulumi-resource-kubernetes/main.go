// Command pulumi-resource-kubernetes is upstream's Kubernetes plugin, built from
// its own module where its releases cannot be downloaded. The module leaves two
// files to its release's build: they are laid over this folder when it is
// compiled (overlay.sh).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() { provider.Serve("kubernetes", version.Version, schema, terraformMapping) }
