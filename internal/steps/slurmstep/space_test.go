package slurmstep

import (
	"context"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

func TestRoomForState(t *testing.T) {
	const conf = "ClusterName=lab\nStateSaveLocation=STATE\n"
	for name, c := range map[string]struct {
		programs map[string]string
		want     string
	}{
		"room":          {map[string]string{"df": "echo Avail; echo 100000", "find": "echo 5000; echo 20"}, ""},
		"none":          {map[string]string{"df": "echo Avail; echo 0", "find": "echo 5000"}, "0 KiB free, slurmctld needs 256 KiB"},
		"a large state": {map[string]string{"df": "echo Avail; echo 1000", "find": "echo 20; echo 2048000"}, "1000 KiB free, slurmctld needs 2000 KiB"},
		"no answer":     {map[string]string{"df": "true", "find": "true"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := steptest.New(t, c.programs), t.TempDir()
			session, err := s.Input(t, nil, "ctl1").Connect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			err = roomForState(context.Background(), session, "ctl1", strings.Replace(conf, "STATE", dir, 1))
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), dir+" on ctl1 is full") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}
