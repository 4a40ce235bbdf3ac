package slurmctl

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Job is what squeue says about a job.
type Job struct {
	// ID as people write it: "42", or "42_7" for one task of an array and
	// "42_[8-9]" for those that wait.
	ID string
	// State in short: PD, CF, R, CG, S, SO, SI, ST, RS, ...
	State string
	// User and Account that the job belongs to, and its QOS.
	User, Account, QOS string
	// Partition it was submitted to.
	Partition string
	// Nodes that it holds, empty while it waits; Wanted and Unwanted are those
	// that it names (--nodelist, --exclude).
	Nodes, Wanted, Unwanted []string
	// Reservation it was submitted to.
	Reservation string
	// NodeCount that it has or asks for.
	NodeCount int
	// Name that its owner gave it.
	Name string
}

// jobFormat is squeue's format of what ParseJobs reads. The name comes last:
// it may hold anything.
const jobFormat = "%i|%t|%u|%a|%P|%N|%n|%x|%v|%D|%q|%j"

// heldStates are the states in which a job keeps a node busy.
var heldStates = []string{
	"RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "STOPPED", "CONFIGURING", "RESIZING",
}

// ParseJobs reads the output of squeue with this package's format.
func ParseJobs(out string) ([]Job, error) {
	var jobs []Job
	for _, line := range strings.Split(out, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.SplitN(line, "|", 12)
		if len(f) != 12 {
			return nil, fmt.Errorf("reading a job: %d fields in %q", len(f), clip(line))
		}
		job := Job{ID: f[0], State: f[1], User: f[2], Account: null(f[3]), Partition: f[4], Reservation: null(f[8]), QOS: null(f[10]), Name: f[11]}
		var err error
		for i, to := range []*[]string{&job.Nodes, &job.Wanted, &job.Unwanted} {
			if *to, err = expand(f[5+i]); err != nil {
				return nil, fmt.Errorf("reading job %s: %w", job.ID, err)
			}
		}
		// squeue writes 1-2 where a job accepts a range.
		least, _, _ := strings.Cut(f[9], "-")
		if job.NodeCount, err = strconv.Atoi(strings.TrimSpace(least)); err != nil {
			return nil, fmt.Errorf("reading job %s: node count is %q", job.ID, f[9])
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func null(s string) string {
	if s == "(null)" || s == "N/A" {
		return ""
	}
	return s
}

// expand lists the names of an expression that Slurm printed.
func expand(expr string) ([]string, error) {
	expr = null(strings.TrimSpace(expr))
	if expr == "" {
		return nil, nil
	}
	return hostlist.Expand(expr)
}

// Jobs lists the jobs in the given long states, such as "PENDING"; with none,
// all that are not finished.
func (c *Client) Jobs(ctx context.Context, states ...string) ([]Job, error) {
	args := []string{"squeue", "--noheader", "--all", "--format=" + jobFormat}
	if len(states) > 0 {
		args = append(args, "--states="+strings.Join(states, ","))
	}
	out, err := c.output(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("listing jobs: %w", err)
	}
	return ParseJobs(out)
}

// JobsOnNodes lists the jobs that keep at least one of the nodes busy: running,
// completing, suspended, staging out, being signalled or starting.
func (c *Client) JobsOnNodes(ctx context.Context, nodes []string) ([]Job, error) {
	all, err := c.Jobs(ctx, heldStates...)
	if err != nil {
		return nil, err
	}
	return filterJobs(all, func(j Job) bool { return overlap(j.Nodes, nodes) }), nil
}

// PendingJobsNaming lists the jobs that wait and ask for one of the nodes by name.
func (c *Client) PendingJobsNaming(ctx context.Context, nodes []string) ([]Job, error) {
	all, err := c.Jobs(ctx, "PENDING")
	if err != nil {
		return nil, err
	}
	return filterJobs(all, func(j Job) bool { return overlap(j.Wanted, nodes) }), nil
}

func filterJobs(all []Job, keep func(Job) bool) []Job {
	var kept []Job
	for _, j := range all {
		if keep(j) {
			kept = append(kept, j)
		}
	}
	sort.SliceStable(kept, func(i, k int) bool { return hostlist.Less(kept[i].ID, kept[k].ID) })
	return kept
}

// overlap tells whether two lists of names have one in common.
func overlap(a, b []string) bool {
	in := make(map[string]bool, len(b))
	for _, name := range b {
		in[name] = true
	}
	for _, name := range a {
		if in[name] {
			return true
		}
	}
	return false
}

// IDs of the jobs, in order, each once.
func IDs(jobs []Job) []string {
	var ids []string
	seen := map[string]bool{}
	for _, j := range jobs {
		if !seen[j.ID] {
			ids = append(ids, j.ID)
			seen[j.ID] = true
		}
	}
	return ids
}

// Describe writes a job in one line for a person.
func (j Job) Describe() string {
	where := "waiting"
	switch {
	case len(j.Nodes) > 0:
		where = "on " + hostlist.Compress(j.Nodes)
	case len(j.Wanted) > 0:
		where = "waiting for " + hostlist.Compress(j.Wanted)
	}
	return fmt.Sprintf("job %s (%s) of %s, %s, %s", j.ID, j.Name, j.User, j.State, where)
}
