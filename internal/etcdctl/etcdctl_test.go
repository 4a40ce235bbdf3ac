package etcdctl

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// answers gives the answer whose key the command ends with, and remembers what
// it was asked.
type answers struct {
	given map[string]string
	asked []string
}

func (a *answers) client() *Client {
	return &Client{Runner: shell.RunnerFunc(func(_ context.Context, command string, _ []byte) ([]byte, error) {
		words := strings.TrimSpace(strings.TrimPrefix(command, inContainer))
		a.asked = append(a.asked, words)
		answer, ok := a.given[words]
		if !ok {
			return nil, errors.New("unexpected: " + words)
		}
		if text, failed := strings.CutPrefix(answer, "!"); failed {
			return []byte(text), &shell.ExitError{Command: command, Status: 1, Stderr: "unhealthy cluster"}
		}
		return []byte(answer), nil
	})}
}

const (
	list = `etcd --write-out json member list`
	ask  = `etcd --write-out json endpoint health --cluster`

	three = `{"header":{"cluster_id":1},"members":[
{"ID":10316494321651402123,"name":"ctl1","peerURLs":["https://192.0.2.1:2380"],"clientURLs":["https://192.0.2.1:2379"]},
{"ID":2,"name":"ctl2","peerURLs":["https://192.0.2.2:2380"],"clientURLs":["https://192.0.2.2:2379"]},
{"ID":3,"name":"","peerURLs":["https://192.0.2.3:2380"],"isLearner":true}]}`
	twoAnswer = `[{"endpoint":"https://192.0.2.1:2379","health":true,"took":"2ms"},{"endpoint":"https://192.0.2.2:2379","health":false,"took":"5s","error":"context deadline exceeded"}]`
)

func TestMembers(t *testing.T) {
	want := []Member{
		{ID: "8f2b8ced295dc58b", Name: "ctl1", Peers: []string{"https://192.0.2.1:2380"}, Healthy: true},
		{ID: "2", Name: "ctl2", Peers: []string{"https://192.0.2.2:2380"}, Why: "context deadline exceeded"},
		{ID: "3", Peers: []string{"https://192.0.2.3:2380"}, Learner: true, Why: "it has never started"},
	}
	got, err := (&answers{given: map[string]string{list: three, ask: "!" + twoAnswer}}).client().Members(t.Context())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	for name, given := range map[string]map[string]string{
		"etcd does not run":     {list: "!"},
		"no answer on health":   {list: three, ask: "!"},
		"a list of other make":  {list: "members"},
		"a health of its own":   {list: three, ask: "healthy"},
		"a failure without one": {list: three},
	} {
		if got, err := (&answers{given: given}).client().Members(t.Context()); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// members are healthy where their letter is large, and learners where it is an l
// or L; m or M has a vote.
func members(letters string) []Member {
	var all []Member
	for i, letter := range letters {
		lower := strings.ToLower(string(letter))
		all = append(all, Member{ID: string(rune('0' + i)), Name: "ctl" + string(rune('0'+i)), Healthy: lower != string(letter), Learner: lower == "l"})
	}
	return all
}

func TestMayLose(t *testing.T) {
	for name, c := range map[string]struct {
		members, lose string
		want          string
	}{
		"one of three that all work":        {"MMM", "2", ""},
		"the dead one of three":             {"MMm", "2", ""},
		"one that works, another is dead":   {"MMm", "0", "etcd would have no majority: of its 3 members 2 answer now, and of the 2 that would be left 1 would"},
		"one of two dead ones of three":     {"Mmm", "2", "etcd would have no majority: of its 3 members 1 answer now, and of the 2 that would be left 1 would"},
		"one of two":                        {"MM", "1", ""},
		"the dead one of two":               {"Mm", "1", "etcd would have no majority: of its 2 members 1 answer now, and of the 1 that would be left 1 would"},
		"the only one":                      {"M", "0", "etcd would have no majority: of its 1 members 1 answer now, and of the 0 that would be left 0 would"},
		"one of two dead ones of five":      {"MMMmm", "4", ""},
		"one that works of those":           {"MMMmm", "0", "etcd would have no majority: of its 5 members 3 answer now, and of the 4 that would be left 2 would"},
		"a learner that never started":      {"Ml", "1", ""},
		"the only one that has a vote":      {"ML", "0", "etcd would have no majority: of its 1 members 1 answer now, and of the 0 that would be left 0 would"},
		"with a learner that never started": {"MMMl", "0", ""},
	} {
		err := MayLose(members(c.members), c.lose)
		if text := errorText(err); text != c.want || err != nil && !errors.Is(err, ErrQuorum) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRemove(t *testing.T) {
	healthy := strings.Replace(twoAnswer, "false", "true", 1)
	for name, c := range map[string]struct {
		health, id string
		removes    bool
		err        error
	}{
		"the one that never started": {healthy, "3", true, nil},
		"one too many":               {twoAnswer, "8f2b8ced295dc58b", false, ErrQuorum},
		"one that is gone":           {twoAnswer, "77", false, nil},
	} {
		a := &answers{given: map[string]string{list: three, ask: c.health, "etcd member remove " + c.id: "removed"}}
		err := a.client().Remove(t.Context(), c.id)
		if removed := strings.Contains(strings.Join(a.asked, "\n"), "member remove"); removed != c.removes || !errors.Is(err, c.err) {
			t.Errorf("%s: removed %v, %v", name, removed, err)
		}
	}
}

// TestSnapshot checks the words, and that the shell can read the script; a real
// etcd saves in the tests of control planes.
func TestSnapshot(t *testing.T) {
	a := &answers{given: map[string]string{"snapshot /var/backups/gpucluster 5": "/var/backups/gpucluster/etcd-1.db\n"}}
	if path, err := a.client().Snapshot(t.Context()); err != nil || path != "/var/backups/gpucluster/etcd-1.db" {
		t.Errorf("%q, %v", path, err)
	}
	if _, err := (&answers{}).client().Snapshot(t.Context()); err == nil {
		t.Error("a failure is not told")
	}
	if _, err := (shell.Exec{"sh", "-n", "-c"}).Run(t.Context(), inContainer, nil); err != nil {
		t.Error(err)
	}
}
