package hoststep

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// EnvOwner is the environment entry with the result of the owner's step.
const EnvOwner = "GPUCLUSTER_OWNER"

// OwnerSpec asks for an owner. It is empty: an owner never changes.
type OwnerSpec struct{}

// applyOwner makes a name for the state that this resource is kept in. Hosts
// that bear it are that state's; the same state in another checkout has the
// same.
func applyOwner(_ context.Context, in *step.Input) (any, error) {
	var spec OwnerSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	return rand.Text(), nil
}

// markFile is where a host tells what was made of it.
const markFile = "/var/lib/gpucluster/host.json"

// mark is the content of that file.
type mark struct {
	// Environment that the host is part of.
	Environment string `json:"environment"`
	// Owner is the state that the environment is kept in.
	Owner string `json:"owner"`
	// Prepared is a digest of what the host was prepared for.
	Prepared string `json:"prepared"`
}

// markOf is the mark of a host that is as the spec says.
func markOf(spec BaselineSpec, in *step.Input) mark {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // it was read from JSON
	}
	sum := sha256.Sum256(text)
	return mark{Environment: spec.Environment, Owner: ownerOf(in), Prepared: hex.EncodeToString(sum[:8])}
}

// ownerOf is the state that a step works for; "" where an earlier release has
// left it.
func ownerOf(in *step.Input) string {
	var owner string
	if err := json.Unmarshal([]byte(in.Getenv(EnvOwner)), &owner); err != nil {
		return ""
	}
	return owner
}

// Taken reports whether a host belongs to another state by now, and says so. A
// removal leaves such a host alone: what is there is the other state's.
func Taken(ctx context.Context, in *step.Input, session *remote.Session, host string) (bool, error) {
	found, err := readMark(ctx, session, host)
	if err != nil || !found.othersThan(mark{Owner: ownerOf(in)}) {
		return false, err
	}
	in.Logf("%s belongs to %s of another state by now; nothing is removed from it", host, found.Environment)
	return true, nil
}

// othersThan reports whether the host bears the mark of another state.
func (m mark) othersThan(want mark) bool {
	return m.Owner != "" && want.Owner != "" && m.Owner != want.Owner
}

// differs says how the host is not what was made of it.
func (m mark) differs(host string, want mark) error {
	switch {
	case m == want:
		return nil
	case m == mark{}:
		return fmt.Errorf("%s has lost its preparation; was it installed anew?", host)
	case m.othersThan(want):
		return &takenError{host: host, by: m}
	}
	return fmt.Errorf("%s was last prepared for something else", host)
}

// takenError tells that a host belongs to another state.
type takenError struct {
	host string
	by   mark
}

func (e *takenError) Error() string {
	return fmt.Sprintf("%[1]s belongs to the environment %[2]s of another state: change it from there, or destroy it there first; if that state is lost, remove %[3]s on %[1]s and run again",
		e.host, e.by.Environment, markFile)
}

// readMark reads a host's mark; a host without one has an empty mark.
func readMark(ctx context.Context, session *remote.Session, host string) (mark, error) {
	out, err := session.Run(ctx, host, "[ ! -e "+markFile+" ] || cat "+markFile, nil)
	if err != nil {
		return mark{}, err
	}
	var m mark
	if out == "" {
		return m, nil
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		return m, fmt.Errorf("reading %s on %s: %w; if no other environment has this host, remove the file and run again", markFile, host, err)
	}
	return m, nil
}

func writeMark(ctx context.Context, session *remote.Session, host string, m mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	script := fmt.Sprintf("mkdir -p /var/lib/gpucluster && cat >%[1]s.new && mv %[1]s.new %[1]s", markFile)
	_, err = session.Run(ctx, host, script, append(text, '\n'))
	return err
}

// removeMark removes the host's mark, and the folder with it unless something
// else is in there.
func removeMark(ctx context.Context, session *remote.Session, host string) error {
	script := "rm -f " + markFile + "; for folder in /var/lib/gpucluster/placed /var/lib/gpucluster; do [ ! -d $folder ] || rmdir --ignore-fail-on-non-empty $folder; done"
	_, err := session.Run(ctx, host, script, nil)
	return err
}
