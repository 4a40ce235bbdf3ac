package e2e

import (
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// TestLife follows one cluster from nothing to nothing.
func TestLife(t *testing.T) {
	c := cluster.New(t, "life", small)
	life := &life{}
	runStages(t, c, []stage{
		{"up from nothing", life.up, true},
		{"up again changes nothing", life.again, false},
		{"up from another clone changes nothing", life.elsewhere, false},
		{"partitions and topology are the file's", life.partitions, false},
		{"accounts are the file's", life.accounts, false},
		{"a job runs as its user with its own GPUs", life.job, false},
		{"a user without account is refused", life.stranger, false},
		{"preview tells a change without a connection", life.preview, false},
		{"a partition's limit is a reload of the controller", life.limit, false},
		{"two more hosts come in while a job runs", life.grow, true},
		{"a host leaves when its job has ended", life.shrink, true},
		{"a deadline that passes changes nothing", life.deadline, true},
		{"a host loses GPUs when its job has ended", life.reshape, false},
		{"a user and an account go", life.dismiss, false},
		{"no secret lies open", life.secrets, false},
		{"destroy refuses while a job runs", life.refuse, false},
		{"destroy from a fresh clone leaves nothing", life.down, true},
	})
}

// life is what later stages need from earlier ones.
type life struct {
	// watcher saw every command line while the cluster was built.
	watcher *watcher
}
