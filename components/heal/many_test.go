package heal

import (
	"context"
	"fmt"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
)

// TestManyInQuarantine counts each of many resources that need repair at the same
// moment once.
func TestManyInQuarantine(t *testing.T) {
	const many = 2000
	var resources []priorstate.Resource
	for i := range many {
		resources = append(resources, prior(fmt.Sprint("r", i), "watch", "1", `{"host":"h","status":"quarantined","reason":"no disk"}`))
	}
	a := assess(context.Background(), priorstate.Of(resources...), nil, false)
	for i := range many {
		if got := a.Count(fmt.Sprint("r", i)); got != 2 {
			t.Fatalf("r%d is counted %d times, want 2", i, got)
		}
	}
}
