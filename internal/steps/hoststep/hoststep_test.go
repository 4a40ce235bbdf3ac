package hoststep

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// TestHomeGroups checks which plays of the shared home's playbooks a host is
// in: home folders are made once, where the tree is served.
func TestHomeGroups(t *testing.T) {
	for name, c := range map[string]struct {
		spec HomeSpec
		want map[string][]string
	}{
		"a client": {HomeSpec{Host: "gpu1"}, map[string][]string{"clients": {"gpu1"}}},
		"the server": {HomeSpec{Host: "ctl1", Server: true}, map[string][]string{
			"clients": {"ctl1"}, "storage": {"ctl1"}, "homes": {"ctl1"},
		}},
	} {
		if got := c.spec.groups(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is in %v, want %v", name, got, c.want)
		}
	}
}

// TestOutcome checks whose failure stops the run.
func TestOutcome(t *testing.T) {
	broken := &playbook.Error{Playbook: playbook.Baseline, Failures: []playbook.Failure{{Host: "h", Task: "Look", Message: "no disk"}}}
	lost := &remote.CommandError{Unreachable: true}
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx       context.Context
		essential bool
		err       error
		want      any
		fails     bool
	}{
		"ready":                      {context.Background(), false, nil, step.Ready("h", ""), false},
		"essential and ready":        {context.Background(), true, nil, step.Ready("h", ""), false},
		"broken":                     {context.Background(), false, broken, step.Quarantined("h", broken), false},
		"lost its network":           {context.Background(), false, fmt.Errorf("reading a mark: %w", lost), step.Quarantined("h", fmt.Errorf("reading a mark: %w", lost)), false},
		"essential and broken":       {context.Background(), true, broken, nil, true},
		"a fault of the deployer":    {context.Background(), false, errors.New("ansible-playbook is missing"), nil, true},
		"interrupted is not a fault": {interrupted, false, broken, nil, true},
	} {
		got, err := outcome(c.ctx, "h", c.essential, c.err)
		if (err != nil) != c.fails || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}
