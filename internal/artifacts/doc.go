// Package artifacts is the one table of what a Kubernetes cluster of the lab is
// made of where no registry can be reached: the programs that are compiled from
// their Go modules, the images made of them, and the binaries and charts that
// hosts and installers fetch.
//
// The program in tools/artifacts makes all of it, in the order of the table,
// into a store of this machine ([DefaultStore]), and serves it. This package
// only says what there is: it imports nothing beyond the standard library.
package artifacts

import "os"

// StoreVariable names another folder than /var/cache/gpucluster/artifacts.
const StoreVariable = "GPUCLUSTER_ARTIFACTS"

// DefaultStore is the folder of this machine that holds the artifacts.
func DefaultStore() string {
	if named := os.Getenv(StoreVariable); named != "" {
		return named
	}
	return "/var/cache/gpucluster/artifacts"
}

// Layout of a store. What is current is a link that changes at once, so that
// who reads a store never meets half of one.
const (
	// Current is the link to what the store holds now.
	Current = "current"
	// ImagesFolder is the OCI layout with all images.
	ImagesFolder = "images"
	// BinariesFolder holds a folder for each version, with the file SHA256SUMS in it.
	BinariesFolder = "binaries"
	// ChartsFolder holds Helm's charts.
	ChartsFolder = "charts"
	// ServerFile is the static program that serves a store.
	ServerFile = "artifacts"
)
