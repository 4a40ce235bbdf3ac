package slurmctl

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Seen is what a task of ours saw on a node.
type Seen struct {
	// Node that it ran on, by Slurm's name, and that host's own name.
	Node, Host string
	// Devices are the indexes in CUDA_VISIBLE_DEVICES.
	Devices []string
	// SMI are the lines of `nvidia-smi -L`; nil where the host has no nvidia-smi.
	SMI []string
}

// probe is what a task runs. Each line begins with the node's name, so that the
// output of many tasks can be told apart.
const probe = `n=$SLURMD_NODENAME
echo "$n host $(uname -n)"
echo "$n devices ${CUDA_VISIBLE_DEVICES-}"
command -v nvidia-smi >/dev/null 2>&1 || exit 0
echo "$n smi"
nvidia-smi -L | while read -r line; do echo "$n smi $line"; done
`

// parseSeen reads what probes wrote, sorted by node.
func parseSeen(out string) ([]Seen, error) {
	byNode := map[string]*Seen{}
	for _, line := range lines(out) {
		node, rest, _ := strings.Cut(line, " ")
		key, value, _ := strings.Cut(rest, " ")
		s := byNode[node]
		if s == nil {
			s = &Seen{Node: node}
			byNode[node] = s
		}
		switch key {
		case "host":
			s.Host = value
		case "devices":
			s.Devices = commas(value)
		case "smi":
			if s.SMI == nil {
				s.SMI = []string{}
			}
			// MIG instances and notes are indented or have no index.
			if strings.HasPrefix(value, "GPU ") {
				s.SMI = append(s.SMI, value)
			}
		default:
			return nil, fmt.Errorf("reading a job's output: %q", clip(line))
		}
	}
	var all []Seen
	for _, s := range byNode {
		all = append(all, *s)
	}
	sort.Slice(all, func(i, j int) bool { return hostlist.Less(all[i].Node, all[j].Node) })
	return all, nil
}

// check compares what a task saw with the number of GPUs it asked for.
func (s Seen) check(gpus int64) error {
	if int64(len(s.Devices)) != gpus {
		return fmt.Errorf("a job that asked for %d GPUs on %s sees %d (%s)", gpus, s.Node, len(s.Devices), strings.Join(s.Devices, ","))
	}
	if s.SMI != nil && int64(len(s.SMI)) < gpus {
		return fmt.Errorf("nvidia-smi lists %d GPUs on %s, fewer than the %d of the job", len(s.SMI), s.Node, gpus)
	}
	return nil
}

// Validation asks for a real job on one node.
type Validation struct {
	// Node to run on. It is closed by [Client.Close].
	Node string
	// GPUs that the node has; the job asks for all of them. None: the job
	// asks for the node alone.
	GPUs []Gres
	// Partition to run in. Default: one that root can use, chosen from the
	// live ones.
	Partition string
	// ReadyLimit bounds the wait for the node's slurmd. Default 2 min.
	ReadyLimit time.Duration
	// JobLimit bounds the job. Default 2 min.
	JobLimit time.Duration
}

// Validate waits until a closed node is ready, then runs a GPU job on it,
// within its closure, and checks that the job sees every GPU. The node stays closed.
func (c *Client) Validate(ctx context.Context, v Validation) (Seen, error) {
	if err := c.WaitReady(ctx, v.Node, orDefault(v.ReadyLimit, 2*time.Minute)); err != nil {
		return Seen{}, err
	}
	if v.Partition == "" {
		all, err := c.Partitions(ctx)
		if err != nil {
			return Seen{}, err
		}
		if v.Partition, err = rootPartition(all, v.Node); err != nil {
			return Seen{}, err
		}
	}
	var total int64
	for _, g := range v.GPUs {
		total += g.Count
	}
	out, err := c.srun(ctx, srunJob{
		name:  "gpucluster-validate-" + v.Node,
		limit: orDefault(v.JobLimit, 2*time.Minute),
		nodes: 1,
		args: []string{"--nodelist=" + v.Node, "--reservation=" + ClosureName(v.Node),
			"--partition=" + v.Partition},
		gpus: v.GPUs,
	})
	if err != nil {
		return Seen{}, fmt.Errorf("running a job on %s: %w", v.Node, err)
	}
	seen, err := parseSeen(out)
	if err != nil {
		return Seen{}, err
	}
	if len(seen) != 1 || seen[0].Node != v.Node {
		return Seen{}, fmt.Errorf("the job for %s answered from %d nodes: %q", v.Node, len(seen), clip(out))
	}
	return seen[0], seen[0].check(total)
}

// Smoke asks for a small job over several nodes, as anybody could run.
type Smoke struct {
	// Nodes is how many hosts the job spans.
	Nodes int
	// GPUs that it asks for on each of them.
	GPUs []Gres
	// Partition to run in. Default: the cluster's default.
	Partition string
	// Limit bounds the wait for resources and the job together. Default 5 min.
	Limit time.Duration
}

// RunSmoke runs a job over several nodes and checks that each task sees as many
// GPUs as it asked for. The result is sorted by node.
func (c *Client) RunSmoke(ctx context.Context, s Smoke) ([]Seen, error) {
	job := srunJob{name: "gpucluster-smoke", limit: orDefault(s.Limit, 5*time.Minute), nodes: s.Nodes, gpus: s.GPUs}
	if s.Partition != "" {
		job.args = append(job.args, "--partition="+s.Partition)
	}
	out, err := c.srun(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("running the smoke job: %w", err)
	}
	seen, err := parseSeen(out)
	if err != nil {
		return nil, err
	}
	if len(seen) != s.Nodes {
		return seen, fmt.Errorf("the smoke job over %d hosts answered from %d: %q", s.Nodes, len(seen), clip(out))
	}
	var total int64
	for _, g := range s.GPUs {
		total += g.Count
	}
	for _, one := range seen {
		if err := one.check(total); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

// srunJob is a job of ours that runs the probe.
type srunJob struct {
	name  string
	limit time.Duration
	nodes int
	gpus  []Gres
	args  []string
}

// JobTimeout says that a job of ours did not end in time. It was cancelled.
type JobTimeout struct {
	// Name of the job and how long it was waited for.
	Name   string
	Waited time.Duration
	// Why is what srun said last, for example that it waits for resources.
	Why string
}

func (e *JobTimeout) Error() string {
	return fmt.Sprintf("job %s did not end within %s: %s", e.Name, e.Waited, e.Why)
}

// Queued tells that the job never began: it waited for resources to the end.
func (e *JobTimeout) Queued() bool {
	return strings.Contains(e.Why, "queued and waiting for resources") && !strings.Contains(e.Why, "has been allocated resources")
}

// srun runs the probe, one task a node. Whatever happens, no job of that name is
// left: the wrapper cancels it, also when the connection to the controller is cut.
func (c *Client) srun(ctx context.Context, job srunJob) (string, error) {
	args := []string{"srun", "--job-name=" + job.name,
		"--nodes=" + strconv.Itoa(job.nodes), "--ntasks=" + strconv.Itoa(job.nodes), "--ntasks-per-node=1",
		"--time=" + strconv.Itoa(int(job.limit/time.Minute)+1), "--chdir=/", "--export=NONE", "--kill-on-bad-exit=1"}
	args = append(args, job.args...)
	if len(job.gpus) > 0 {
		args = append(args, "--gres="+FormatGres(job.gpus))
	}
	args = append(args, "/bin/sh", "-c", probe)
	seconds := strconv.Itoa(int(job.limit / time.Second))
	script := "trap '" + shell.Words("scancel", "--user=root", "--name="+job.name) + " 2>/dev/null' EXIT\n" +
		"trap 'exit 129' HUP INT TERM\n" +
		"timeout --kill-after=10 " + seconds + " " + shell.Words(args...) + "\n"
	out, err := c.Runner.Run(ctx, script, nil)
	var failed *shell.ExitError
	if errors.As(err, &failed) {
		why := strings.TrimSpace(failed.Stderr)
		if failed.Status == 124 || failed.Status == 137 {
			return string(out), &JobTimeout{Name: job.name, Waited: job.limit, Why: why}
		}
		return string(out), &shell.ExitError{Command: "srun", Status: failed.Status, Stderr: why}
	}
	return string(out), err
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
