package accounting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// Options of [Apply].
type Options struct {
	// Deadline bounds the wait for jobs of users and accounts that go.
	// Default 30 min.
	Deadline time.Duration
	// Keepers of the ledger. Default: the controller that is asked.
	Keepers Keepers
	// RegisterLimit bounds the wait for slurmctld to register its cluster with
	// the database. Default 1 min.
	RegisterLimit time.Duration
}

// Result is what was done. Equal runs give equal results.
type Result struct {
	// Done lists the changes, in order.
	Done []string `json:"done"`
	// Reports are about what is not ours.
	Reports []string `json:"reports,omitempty"`
}

// StillUsed says that jobs of users or accounts that go were left when the time
// was over. They can submit no more; everything else was done.
type StillUsed struct {
	// Waited is how long.
	Waited time.Duration
	// Jobs that are left, by who goes.
	Jobs map[Key][]slurmctl.Job
}

func (e *StillUsed) keys() []Key { return sortedKeys(e.Jobs) }

func sortedKeys[V any](m map[Key]V) []Key {
	var keys []Key
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func (e *StillUsed) all() []slurmctl.Job {
	var jobs []slurmctl.Job
	for _, k := range e.keys() {
		jobs = append(jobs, e.Jobs[k]...)
	}
	return jobs
}

func (e *StillUsed) Error() string {
	var parts []string
	for _, k := range e.keys() {
		for _, j := range e.Jobs[k] {
			parts = append(parts, j.Describe())
		}
	}
	return fmt.Sprintf("%s still has jobs after %s: %s", joinKeys(e.keys()), e.Waited, strings.Join(parts, "; "))
}

// Choices are the ways on, each one a sentence for a person.
func (e *StillUsed) Choices() []string {
	ids := strings.Join(slurmctl.IDs(e.all()), ",")
	return []string{
		"wait on: run again, with a longer drainDeadline",
		"cancel the jobs: scancel " + ids,
		"keep them: put " + joinKeys(e.keys()) + " back into the environment file; the next run lets them submit again",
	}
}

func joinKeys(keys []Key) string {
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = k.String()
	}
	return strings.Join(words, ", ")
}

// NotTaken says that the database still differs after all commands ran.
type NotTaken struct{ Left []string }

func (e *NotTaken) Error() string {
	return "the accounting database did not take: " + strings.Join(e.Left, "; ")
}

// Apply brings the database in line with desired, through sacctmgr on the
// controller. It can be run again after any failure.
func Apply(ctx context.Context, ctl *slurmctl.Client, desired Desired, opt Options) (Result, error) {
	if opt.Keepers == nil {
		opt.Keepers = Keepers{ctl.Runner}
	}
	a := &applier{ctl: ctl, desired: desired, opt: opt, result: Result{Done: []string{}}}
	observed, err := a.waitRegistered(ctx)
	if err != nil {
		return a.result, err
	}
	owned, err := ReadLedger(ctx, opt.Keepers, desired.Cluster)
	if err != nil {
		return a.result, err
	}
	plan, err := Diff(desired, observed, owned)
	if err != nil {
		return a.result, err
	}
	if plan.Empty() && len(plan.Forget) == 0 {
		a.report(plan)
		return a.result, nil
	}
	if len(plan.Record) > 0 {
		owned = owned.with(plan.Record, nil)
		if err := owned.Write(ctx, opt.Keepers); err != nil {
			return a.result, err
		}
	}
	if err := a.run(ctx, plan.Commands); err != nil {
		return a.result, err
	}
	left, err := a.removeAll(ctx, plan.Removals)
	if err != nil {
		return a.result, err
	}
	return a.result, a.finish(ctx, owned, left)
}

type applier struct {
	ctl     *slurmctl.Client
	desired Desired
	opt     Options
	result  Result
}

func (a *applier) say(format string, args ...any) {
	if a.ctl.Progress != nil {
		a.ctl.Progress(fmt.Sprintf(format, args...))
	}
}

// waitRegistered waits until the database knows the cluster: slurmctld says so itself
// when it first talks to slurmdbd. It returns what the database holds.
func (a *applier) waitRegistered(ctx context.Context) (Observed, error) {
	limit := a.opt.RegisterLimit
	if limit == 0 {
		limit = time.Minute
	}
	for until := time.Now().Add(limit); ; {
		o, err := Observe(ctx, a.ctl.Runner, a.desired.Cluster)
		if err == nil && o.Registered {
			return o, nil
		}
		if err == nil {
			err = fmt.Errorf("cluster %s is not registered in the accounting database", a.desired.Cluster)
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return o, err
		}
		if err := pause(ctx, time.Second); err != nil {
			return o, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (a *applier) report(plan Plan) {
	a.result.Reports = plan.Reports
	for _, r := range plan.Reports {
		a.say("%s", r)
	}
}

// finish looks whether all was taken, and drops from the ledger what is gone.
func (a *applier) finish(ctx context.Context, owned Ledger, left *StillUsed) error {
	observed, err := Observe(ctx, a.ctl.Runner, a.desired.Cluster)
	if err != nil {
		return err
	}
	plan, err := Diff(a.desired, observed, owned)
	if err != nil {
		return err
	}
	a.report(plan)
	var wrong []string
	for _, c := range plan.Commands {
		wrong = append(wrong, c.Comment)
	}
	waiting := map[Key]bool{}
	for _, r := range plan.Removals {
		waiting[r.Key] = true
		if left == nil {
			wrong = append(wrong, r.Delete.Comment)
		}
	}
	var gone []Key
	for _, k := range plan.Forget {
		if !waiting[k] {
			gone = append(gone, k)
		}
	}
	if len(gone) > 0 {
		owned = owned.with(nil, gone)
		if err := owned.Write(ctx, a.opt.Keepers); err != nil {
			return err
		}
	}
	switch {
	case len(wrong) > 0:
		return &NotTaken{Left: wrong}
	case left != nil:
		return left
	}
	return nil
}

// batch bounds the commands of one script, so that its progress is seen.
const batch = 50

// run runs commands in order and stops at the first that fails.
func (a *applier) run(ctx context.Context, commands []Command) error {
	for len(commands) > 0 {
		n := min(batch, len(commands))
		if err := a.runBatch(ctx, commands[:n]); err != nil {
			return err
		}
		commands = commands[n:]
	}
	return nil
}

// failedMark begins the line that tells which command of a script failed.
const failedMark = "== gpucluster failed "

// harmless are what sacctmgr says, with a status of 1, about changes that are
// made already. Whether all was taken is looked at in the end.
var harmless = []string{
	"Nothing new added", "Nothing added", "Already existing", "Nothing modified", "Nothing deleted",
	"Request didn't affect anything", "Data has not changed",
}

func (a *applier) runBatch(ctx context.Context, commands []Command) error {
	var script strings.Builder
	// The function runs one command and forgives what is done already.
	script.WriteString("run() {\n\tout=$(sacctmgr -i \"$@\" 2>&1 </dev/null) && return 0\n\tcase $out in\n")
	for _, h := range harmless {
		script.WriteString("\t*" + shell.Quote(h) + "*) return 0 ;;\n")
	}
	script.WriteString("\tesac\n\techo '" + failedMark + "'\"$n\"\n\techo \"$out\"\n\texit 1\n}\n")
	for i, c := range commands {
		fmt.Fprintf(&script, "n=%d\nrun %s\n", i, shell.Words(c.Args...))
	}
	out, err := a.ctl.Runner.Run(ctx, script.String(), nil)
	done := len(commands)
	if err != nil {
		done, err = a.explain(commands, string(out), err)
	}
	for _, c := range commands[:done] {
		a.say("%s", c.Comment)
		a.result.Done = append(a.result.Done, c.Comment)
	}
	return err
}

// explain says which command failed and why, and how many were done before.
func (a *applier) explain(commands []Command, out string, err error) (int, error) {
	var failed *shell.ExitError
	_, told, ok := strings.Cut("\n"+out, "\n"+failedMark)
	number, text, _ := strings.Cut(told, "\n")
	n := 0
	if _, scanErr := fmt.Sscanf(number, "%d", &n); !ok || scanErr != nil || n >= len(commands) || !errors.As(err, &failed) {
		return 0, fmt.Errorf("changing the accounting database: %w", err)
	}
	return n, fmt.Errorf("%s: sacctmgr: %s", commands[n].Comment, strings.Join(strings.Fields(text), " "))
}
