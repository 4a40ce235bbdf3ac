// Command generate writes what is made from package config's types: the JSON
// Schema of the environment file and the page about it. It runs in the folder
// of package config, through go generate.
package main

import (
	"fmt"
	"os"

	"github.com/gpucluster/pulumi-gpucluster/internal/envdoc"
)

func main() {
	for file, make := range envdoc.Files {
		content, err := make(".")
		if err == nil {
			err = os.WriteFile("../"+file, content, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
