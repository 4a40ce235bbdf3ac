package playbook

import (
	"reflect"
	"strings"
	"testing"
)

func TestCollector(t *testing.T) {
	stream := strings.Join([]string{
		`{"event":"play","name":"Bring hosts in"}`,
		`{"event":"task","task":"munge : Run munged"}`,
		`{"event":"result","host":"n1","status":"changed","task":"munge : Run munged","changes":["restart munge.service"],"seconds":1.2}`,
		`{"event":"result","host":"n2","status":"changed","task":"Bare task"}`,
		`{"event":"result","host":"n1","status":"ok","task":"slurm_compute : Look","report":{"host":{"cgroup":"v2"}}}`,
		`[WARNING]: something else`,
		`{"event":"result","host":"n2","status":"failed","task":"host_baseline : Compare","message":"a; b","problems":["a","b"]}`,
		`{"event":"result","host":"n3","status":"unreachable","task":"munge : Run munged","message":"no route"}`,
		`{"event":"result","host":"stranger","status":"failed","task":"x","message":"y"}`,
	}, "\n")
	var progress strings.Builder
	c := newCollector([]string{"n1", "n2", "n3", "n4"}, &progress)
	// Lines arrive in pieces.
	for i := 0; i < len(stream); i += 7 {
		if _, err := c.Write([]byte(stream[i:min(i+7, len(stream))])); err != nil {
			t.Fatal(err)
		}
	}
	c.flush()

	if want := []string{"Run munged: restart munge.service"}; !reflect.DeepEqual(c.result.Hosts["n1"].Changed, want) {
		t.Errorf("n1 changed %q, want %q", c.result.Hosts["n1"].Changed, want)
	}
	if got := string(c.result.Hosts["n1"].Reports["host"]); got != `{"cgroup":"v2"}` {
		t.Errorf("n1 reports %s", got)
	}
	if want := (&Failure{Host: "n2", Task: "Compare", Message: "a; b", Problems: []string{"a", "b"}}); !reflect.DeepEqual(c.result.Hosts["n2"].Failure, want) {
		t.Errorf("n2 failed with %+v, want %+v", c.result.Hosts["n2"].Failure, want)
	}
	if f := c.result.Hosts["n3"].Failure; f == nil || !f.Unreachable {
		t.Errorf("n3 is not unreachable: %+v", f)
	}
	if h := c.result.Hosts["n4"]; h == nil || h.Failure != nil {
		t.Errorf("n4 is %+v", h)
	}
	if c.unknown() != "[WARNING]: something else" {
		t.Errorf("other output is %q", c.unknown())
	}
	want := "n1: changed: Run munged: restart munge.service\nn2: changed: Bare task\nn2: FAILED: Compare: a\nn2: FAILED: Compare: b\nn3: FAILED: Run munged: no route\n"
	if progress.String() != want {
		t.Errorf("progress is\n%s\nwant\n%s", progress.String(), want)
	}
	err := &Error{Playbook: Compute, Failures: c.result.failures()}
	if want := "playbook compute failed on 2 host(s):\nn2: Compare: a\nn2: Compare: b\nn3: Run munged: no route"; err.Error() != want {
		t.Errorf("the error is\n%s\nwant\n%s", err, want)
	}
}

func TestComplaint(t *testing.T) {
	usage := strings.Repeat("  --option\n", 30)
	if got := complaint("usage: ansible-playbook\n" + usage + "ansible-playbook: error: no such thing"); got != "ansible-playbook: error: no such thing" {
		t.Errorf("got %q", got)
	}
	if got := complaint(usage); strings.Count(got, "\n") != 11 {
		t.Errorf("kept %d lines", strings.Count(got, "\n")+1)
	}
}

func FuzzCollector(f *testing.F) {
	f.Add([]byte(`{"event":"result","host":"n1","status":"failed","task":"a : b","problems":["x"]}` + "\n"))
	f.Add([]byte("[WARNING]: x\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := newCollector([]string{"n1"}, nil)
		if n, err := c.Write(text); n != len(text) || err != nil {
			t.Fatalf("took %d of %d bytes, %v", n, len(text), err)
		}
		c.flush()
		if len(c.result.Hosts) != 1 {
			t.Fatalf("hosts are %v", c.result.Hosts)
		}
	})
}
