package gpuoperator

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/problem"
)

// claimsSince is the first release of Kubernetes whose resource claims NVIDIA
// supports for GPUs.
var claimsSince = [3]int{1, 34, 2}

// Check reports everything that is wrong with a cluster.
func Check(c Cluster) problem.List {
	r := &problem.Report{}
	if len(c.Workers) == 0 {
		r.Add("workers", "name at least one host", "is empty")
	}
	for i, w := range c.Workers {
		checkSlices(r, fmt.Sprintf("workers[%d]", i), c, w)
	}
	if !c.Driver.Operator && (c.Driver.Version != "" || c.Driver.KernelModule != "") {
		r.Add("driver", "leave version and kernel module out, or have the operator install it", "the hosts have a driver already, which nothing of ours changes")
	}
	checkClaims(r, c)
	if c.NodeFeatures == FeaturesNetwork && c.Adapters == nil {
		r.Add("nodeFeatures", "", "is the Network Operator's, which is not installed")
	}
	if !c.ServiceMonitors && len(c.MonitorLabels) > 0 {
		r.Add("monitorLabels", "", "there are no ServiceMonitors to label")
	}
	return r.Problems
}

func checkSlices(r *problem.Report, path string, c Cluster, w Worker) {
	if w.Slice == "" && w.Shares <= 1 {
		return
	}
	if w.Slice != "" && w.Shares > 1 {
		r.Add(path+".shares", "choose one of them", "GPUs that are cut into slices would be shared in turn too")
	}
	if c.DRA {
		r.Add(path, "", "slices and shares are the device plugin's, and claims are asked for")
	}
	if w.Slice == "" {
		return
	}
	known := slicesOf(w.GPUType)
	switch {
	case cannotBeCut(w.GPUType):
		r.Add(path+".slice", "share them in turn instead", "GPUs of type %s cannot be cut", w.GPUType)
	case known == nil && !c.MixedMIG:
		r.Add(path+".slice", "name a type that is known, as h100", "how many slices a GPU of type %s has is not known", w.GPUType)
	case known != nil && known[w.Slice] == 0:
		r.Add(path+".slice", "there are "+sizes(w.GPUType), "GPUs of type %s have no slices of %q", w.GPUType, w.Slice)
	}
}

func checkClaims(r *problem.Report, c Cluster) {
	if !c.DRA {
		return
	}
	if older(c.Kubernetes, claimsSince) {
		r.Add("dra", "use a newer release, or the device plugin", "Kubernetes %s is older than v%d.%d.%d, the first whose claims serve GPUs",
			c.Kubernetes, claimsSince[0], claimsSince[1], claimsSince[2])
	}
	if c.WithoutCDI {
		r.Add("withoutCDI", "", "claims hand devices over by CDI")
	}
}

// older tells whether a release is before another. A text that is no release is.
func older(release string, than [3]int) bool {
	parts := strings.Split(strings.TrimPrefix(release, "v"), ".")
	for i, want := range than {
		if i >= len(parts) {
			return true
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < want {
			return true
		}
		if n > want {
			return false
		}
	}
	return false
}
