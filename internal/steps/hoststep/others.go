package hoststep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// EnvUnprepared says why the preparation of the host failed; it is empty when
// the host is prepared. Such a host takes no work.
const EnvUnprepared = "GPUCLUSTER_UNPREPARED"

// Unprepared is what a step says of a host whose preparation failed. Why, the
// preparation says itself.
func Unprepared(in *step.Input) error {
	if in.Getenv(EnvUnprepared) == "" {
		return nil
	}
	return errors.New("takes no work until its preparation succeeds")
}

// Unplay runs a removal playbook on those of the hosts that are ours and not
// gone. One that may be at work but cannot be asked fails it, before anything is
// removed.
func Unplay(ctx context.Context, in *step.Input, session *remote.Session, book playbook.Playbook, hosts []string, vars map[string]any) error {
	var there []string
	for _, host := range hosts {
		ours, err := StillOurs(ctx, in, session, host)
		if err != nil {
			return fmt.Errorf("nothing was removed from %s: %w", strings.Join(hosts, ", "), err)
		}
		if ours {
			there = append(there, host)
		}
	}
	if len(there) == 0 {
		return nil
	}
	_, err := playbook.Run(ctx, session, book, playbook.Request{
		Groups: map[string][]string{"all": there}, Vars: vars, Progress: in.Log,
	})
	return err
}

// StillOurs reports whether a removal has to do with a host: one that is gone or
// belongs to another state is left alone, with a word about it.
func StillOurs(ctx context.Context, in *step.Input, session *remote.Session, host string) (bool, error) {
	there, err := session.There(ctx, host)
	if err != nil {
		return false, err
	}
	if !there {
		in.Logf("%s is gone; nothing is removed from it", host)
		return false, nil
	}
	taken, err := Taken(ctx, in, session, host)
	return err == nil && !taken, err
}

// FirstThere is one of the hosts that can be asked; "" when all are gone. Where
// none can be asked but one may be at work, it is an error.
func FirstThere(ctx context.Context, session *remote.Session, hosts []string) (string, error) {
	first, problems := Race(ctx, hosts, func(ctx context.Context, host string) error {
		there, err := session.There(ctx, host)
		if !there && err == nil {
			return errGone
		}
		return err
	})
	if first != "" {
		return first, nil
	}
	return "", errors.Join(slices.DeleteFunc(problems, func(err error) bool { return errors.Is(err, errGone) })...)
}

// errGone is the answer of a host where nobody is.
var errGone = errors.New("the host is gone")

// Race asks all hosts at once, since each dead one takes its time, and returns the
// one that was first to answer well, without waiting for the others. Without one
// it returns "" and what is wrong with each, in the order of the hosts.
func Race(ctx context.Context, hosts []string, ask func(ctx context.Context, host string) error) (string, []error) {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	type answer struct {
		i   int
		err error
	}
	answers := make(chan answer, len(hosts))
	for i, host := range hosts {
		go func() { answers <- answer{i, ask(ctx, host)} }()
	}
	problems := make([]error, len(hosts))
	for range hosts {
		a := <-answers
		if a.err == nil {
			return hosts[a.i], nil
		}
		problems[a.i] = a.err
	}
	return "", problems
}

// NotTheHosts is a failure that says nothing about the host: the run could not
// be made from here, or what leads the cluster was lost.
type NotTheHosts struct {
	// Err is the failure.
	Err error
}

func (e NotTheHosts) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e NotTheHosts) Unwrap() error { return e.Err }

// IsTheHosts reports whether a failure may say something about the host: it is
// no [NotTheHosts], and no command that failed on another one.
func IsTheHosts(err error, host string) bool {
	var elsewhere NotTheHosts
	var command *remote.CommandError
	return !errors.As(err, &elsewhere) && (!errors.As(err, &command) || command.Host == host)
}

// OverrideVariable, set to "yes" when an environment is destroyed, lets it be
// destroyed with all that runs there.
const OverrideVariable = "GPUCLUSTER_DESTROY_RUNNING_JOBS"

// Overridden reports whether whoever destroys the environment has said so.
func Overridden() bool { return os.Getenv(OverrideVariable) == "yes" }
