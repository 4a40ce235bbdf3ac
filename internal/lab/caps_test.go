package lab

import (
	"slices"
	"testing"
)

func TestMissingCapabilities(t *testing.T) {
	cases := map[string]struct {
		status  string
		want    []string
		wantErr bool
	}{
		"all there":        {status: "Name:\tx\nCapBnd:\t000001ffffffffff\n"},
		"one lacking":      {status: "CapBnd:\t000001fffeffffff\n", want: []string{"SYS_RESOURCE"}},
		"newest lacking":   {status: "CapBnd:\t0000003fffffffff\n", want: []string{"PERFMON", "BPF", "CHECKPOINT_RESTORE"}},
		"no line":          {status: "CapEff:\t000001ffffffffff\n", wantErr: true},
		"no hex number":    {status: "CapBnd:\tall\n", wantErr: true},
		"a future one too": {status: "CapBnd:\t000003ffffffffff\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := missingCapabilities(c.status)
			if (err != nil) != c.wantErr || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}
