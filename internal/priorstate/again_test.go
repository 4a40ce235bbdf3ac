package priorstate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// busy is an engine that answers only after it has failed some times.
type busy struct {
	pulumitest.Recorder
	failures int
	says     string
}

func (b *busy) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	if b.failures--; b.failures >= 0 {
		return nil, errors.New(b.says)
	}
	return b.Recorder.Call(args)
}

// TestReadAgain checks that a state which is being written is read again, and that
// any other failure is told.
func TestReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		failures int
		says     string
		fails    bool
	}{
		"at once":                   {0, "", false},
		"while it is being written": {2, "failed to load checkpoint: EOF", false},
		"never whole":               {100, "failed to load checkpoint: EOF", true},
		"another failure":           {1, "no such stack", true},
	} {
		t.Run(name, func(t *testing.T) {
			var read error
			err := pulumi.RunErr(func(ctx *pulumi.Context) error {
				_, read = priorstate.Read(ctx)
				return read
			}, pulumi.WithMocks("p", "s", &busy{failures: c.failures, says: c.says}))
			if (read != nil) != c.fails || (err != nil) != c.fails {
				t.Errorf("read %v, the program %v", read, err)
			}
			if c.fails && !strings.Contains(read.Error(), c.says) {
				t.Errorf("read %v, want %q", read, c.says)
			}
		})
	}
}
