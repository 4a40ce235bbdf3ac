package playbook

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// TestARunThatHangs checks that a hung task ends the run at its limit and is
// named, and that a host nobody answers for is not handed to Ansible.
func TestARunThatHangs(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"ssh": `while [ "$1" != -- ]; do shift; done
if [ "$2" = n3 ]; then echo "ssh: connect to host n3 port 22: No route to host" >&2; exit 255; fi`,
		"ansible-playbook": `echo "$*" >` + dir + `/given
echo '{"event":"task","task":"shared_home : Mount the tree"}'
echo '{"event":"result","host":"n1","status":"changed","task":"shared_home : Mount the tree"}'
sleep 60`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	hosts := []string{"n1", "n2", "n3"}
	var targets []remote.Target
	for _, name := range hosts {
		targets = append(targets, remote.Target{Name: name})
	}
	session, err := remote.Open(t.Context(), remote.Config{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	begin := time.Now()
	result, err := Run(t.Context(), session, SharedHomeRemove, Request{Groups: map[string][]string{"clients": hosts}, Limit: time.Second})
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("error %v, want one that names hosts", err)
	}
	want := []Failure{
		{Host: "n1", Task: "Mount the tree", Message: "is done, but other hosts hang in it and the rest was not begun"},
		{Host: "n2", Task: "Mount the tree", Message: "hangs: the playbook did not end within 1s"},
		{Host: "n3", Task: "Log in", Message: "cannot be reached over SSH: ssh: connect to host n3 port 22: No route to host", Unreachable: true},
	}
	if !reflect.DeepEqual(failed.Failures, want) {
		t.Errorf("failures\n%+v\nwant\n%+v", failed.Failures, want)
	}
	if got := result.Hosts["n1"].Changed; !reflect.DeepEqual(got, []string{"Mount the tree"}) {
		t.Errorf("n1 changed %v", got)
	}
	given, _ := os.ReadFile(filepath.Join(dir, "given"))
	if want := "-i inventory.json playbooks/shared_home_remove.yml --limit n1,n2\n"; string(given) != want {
		t.Errorf("ansible-playbook was given %q, want %q", given, want)
	}
}
