package e2e

import (
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// TestLife follows one cluster from nothing to nothing.
func TestLife(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, "life", small)
	life := &life{}
	runStages(t, c, []stage{
		{"up from nothing", life.up, true, true},
		{"up again changes nothing", life.again, false, true},
		{"up from another clone changes nothing", life.elsewhere, false, false},
		{"partitions and topology are the file's", life.partitions, false, true},
		{"accounts are the file's", life.accounts, false, true},
		{"a job runs as its user with its own GPUs", life.job, false, true},
		{"a user without account is refused", life.stranger, false, true},
		{"preview tells a change without a connection", life.preview, false, true},
		{"a partition's limit is a reload of the controller", life.limit, false, false},
		{"two more hosts come in while a job runs", life.grow, true, false},
		{"a host leaves when its job has ended", life.shrink, true, false},
		{"a deadline that passes changes nothing", life.deadline, true, false},
		{"a host loses GPUs when its job has ended", life.reshape, false, false},
		{"a host gets other device files when its job has ended", life.devices, false, false},
		{"a partition is renamed when its jobs have ended", life.rename, false, false},
		{"a user and an account go", life.dismiss, false, false},
		{"no secret lies open", life.secrets, false, false},
		{"destroy refuses while a job runs", life.refuse, false, false},
		{"destroy from a fresh clone leaves nothing", life.down, true, true},
	})
}

// life is what later stages need from earlier ones.
type life struct {
	// watcher saw every command line while the cluster was built.
	watcher *watcher
}
