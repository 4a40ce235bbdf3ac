package remote

import (
	"context"
	"errors"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Runner runs commands on one host. It is a [shell.Runner].
type Runner struct {
	session *Session
	host    string
}

var _ shell.Runner = Runner{}

// Runner returns what runs commands on that host.
func (s *Session) Runner(host string) Runner { return Runner{session: s, host: host} }

// Run runs a shell command as root, like [Session.Run]. A command that ran and
// did not succeed is a [*shell.ExitError]; a host that could not be
// reached is a [*CommandError].
func (r Runner) Run(ctx context.Context, command string, stdin []byte) ([]byte, error) {
	out, err := r.session.Run(ctx, r.host, command, stdin)
	var failure *CommandError
	if errors.As(err, &failure) && failure.ExitStatus >= 0 {
		err = &shell.ExitError{Command: command, Status: failure.ExitStatus, Stderr: failure.Stderr}
	}
	return []byte(out), err
}
