package cluster

import (
	"slices"
	"strings"
	"testing"
)

const eventLog = `{"sequence":0,"timestamp":1,"preludeEvent":{"config":{}}}
{"sequence":1,"timestamp":1,"resourcePreEvent":{"metadata":{"op":"same","urn":"urn:pulumi:lab::gpucluster::pulumi:pulumi:Stack::gpucluster-lab","type":"pulumi:pulumi:Stack"}}}
{"sequence":2,"timestamp":1,"resourcePreEvent":{"metadata":{"op":"update","urn":"urn:pulumi:lab::gpucluster::gpucluster:slurm:Cluster$command:local:Command::lab-controller","type":"command:local:Command"}}}
{"sequence":3,"timestamp":1,"diagnosticEvent":{"urn":"x","message":"<{%reset%}>the configuration changes<{%reset%}>\n","severity":"info"}}
{"sequence":4,"timestamp":1,"resourcePreEvent":{"metadata":{"op":"delete","urn":"urn:pulumi:lab::gpucluster::command:local:Command::lab-gpu2","type":"command:local:Command"}}}
{"sequence":5,"timestamp":1,"summaryEvent":{"resourceChanges":{"same":1,"update":1}}}
`

func TestReadEvents(t *testing.T) {
	events, err := ReadEvents(strings.NewReader(eventLog))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := events.Changes("lab"), []string{"delete gpu2", "update controller"}; !slices.Equal(got, want) {
		t.Errorf("changes %v, want %v", got, want)
	}
	if got := events.Unchanged(); got != 1 {
		t.Errorf("%d unchanged, want 1", got)
	}
	if got, want := events.Diagnostics, []string{"the configuration changes\n"}; !slices.Equal(got, want) {
		t.Errorf("diagnostics %q, want %q", got, want)
	}
	if _, err := ReadEvents(strings.NewReader("{\"cut\n")); err == nil {
		t.Error("a line that is no JSON is read")
	}
}
