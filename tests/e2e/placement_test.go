package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// TestPlacement runs 100 slurmd of 8 GPUs each on one lab host, under two leaf
// switches of 50 nodes, with the file set that the toolkit renders. A job that
// fits under one leaf must be there, although half of either is free.
func TestPlacement(t *testing.T) {
	long(t)
	t.Parallel()
	crowd := newCrowd(t)
	crowd.place(t, crowded(t))
	crowd.start(t)

	t.Run("48 nodes fit under one leaf", func(t *testing.T) {
		got := crowd.where(t, "-N48")
		if under(got, 1, 50) != 48 && under(got, 51, 100) != 48 {
			t.Errorf("the job ran on %v", got)
		}
	})
	t.Run("48 nodes go where 48 are left", func(t *testing.T) {
		// Five nodes of the first leaf are busy: only the second has 48 left.
		busy := crowd.on(t, "sbatch --parsable -N5 -w n[001-005] --gres=gpu:8 --wrap 'srun sleep 600'")
		cluster.Until(t, "the small job to run", time.Minute, func() error {
			if state := crowd.on(t, "squeue -h -j "+busy+" -o %T"); state != "RUNNING" {
				return errors.New(state)
			}
			return nil
		})
		if got := crowd.where(t, "-N48"); under(got, 51, 100) != 48 {
			t.Errorf("the job ran on %v", got)
		}
		crowd.on(t, "scancel "+busy)
	})
	t.Run("60 nodes need both leaves", func(t *testing.T) {
		if got := crowd.where(t, "-N60"); len(got) != 60 {
			t.Errorf("the job ran on %v", got)
		}
	})
}

const crowdHost = "many1"

// crowded is a cluster of 100 nodes that live on one host.
func crowded(t *testing.T) slurmconf.FileSet {
	t.Helper()
	version, err := slurmconf.ParseVersion("24.11")
	if err != nil {
		t.Fatal(err)
	}
	c := slurmconf.Cluster{
		Name: "crowd", Version: version, Controllers: []slurmconf.Controller{{Name: crowdHost}},
		Overrides: slurmconf.LabOverrides(),
		Partitions: []slurmconf.Partition{{
			Name: "train", Nodes: named(1, 100), Default: true,
		}},
		Topology: []topology.Switch{
			{Name: "leaf1", Nodes: named(1, 50)},
			{Name: "leaf2", Nodes: named(51, 100)},
			{Name: "spine1", Switches: []string{"leaf1", "leaf2"}},
		},
	}
	for i := 1; i <= 100; i++ {
		c.Nodes = append(c.Nodes, slurmconf.Node{
			Name: named(i, i)[0], Hostname: crowdHost, Port: 17000 + i,
			Sockets: 2, CoresPerSocket: 8, ThreadsPerCore: 1, RealMemoryMiB: 64 << 10,
			GPUs: []slurmconf.GPUSet{{Type: "h100", Count: 8}},
		})
	}
	files, err := slurmconf.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// named are the names of nodes by number.
func named(first, last int) []string {
	var names []string
	for i := first; i <= last; i++ {
		names = append(names, fmt.Sprintf("n%03d", i))
	}
	return names
}

// crowd is the host on which the nodes live.
type crowd struct{ container string }

func newCrowd(t *testing.T) crowd {
	t.Helper()
	made := labtest.New(t, "crowd", lab.ImageSpec{Slurm: "24.11"}, lab.HostSpec{Name: crowdHost,
		Hardware: lab.Hardware{Sockets: 2, CoresPerSocket: 8, ThreadsPerCore: 1, MemoryMiB: 64 << 10, GPUs: []lab.GPUs{{Count: 8}}}})
	return crowd{container: made.Hosts[0].Container}
}

// on runs a shell command as root on the host.
func (c crowd) on(t *testing.T, command string) string {
	t.Helper()
	out, err := cluster.Exec(t, c.container, command, "")
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return out
}

// place writes the file set where slurmctld reads it.
func (c crowd) place(t *testing.T, files slurmconf.FileSet) {
	t.Helper()
	for _, file := range files.Files {
		command := fmt.Sprintf("cat >/etc/slurm/%s && chmod %s /etc/slurm/%s", file.Name, file.Mode, file.Name)
		if _, err := cluster.Exec(t, c.container, command, file.Content); err != nil {
			t.Fatalf("placing %s: %v", file.Name, err)
		}
	}
}

func (c crowd) start(t *testing.T) {
	t.Helper()
	c.on(t, `set -e
dd if=/dev/urandom of=/etc/munge/munge.key bs=128 count=1 2>/dev/null
chown munge: /etc/munge/munge.key && chmod 400 /etc/munge/munge.key
install -d -o slurm -g slurm /var/spool/slurmctld
install -d /var/spool/slurmd
systemctl start munge slurmctld
for i in $(seq -w 1 100); do slurmd -N n$i; done`)
	started := time.Now()
	cluster.Until(t, "100 nodes to be idle", 5*time.Minute, func() error {
		if states := c.on(t, "sinfo -h -N -o %T | sort | uniq -c"); strings.Join(strings.Fields(states), " ") != "100 idle" {
			return errors.New(states)
		}
		return nil
	})
	t.Logf("100 nodes are idle %.0f s after their slurmd were started", time.Since(started).Seconds())
}

// where runs a job and lists the numbers of its nodes.
func (c crowd) where(t *testing.T, words string) []int {
	t.Helper()
	out := c.on(t, "srun "+words+" --gres=gpu:8 sh -c 'echo $SLURMD_NODENAME'")
	var numbers []int
	for name := range strings.FieldsSeq(out) {
		var number int
		if _, err := fmt.Sscanf(name, "n%d", &number); err != nil {
			t.Fatalf("the job says %q", out)
		}
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}

// under counts the numbers from first to last.
func under(numbers []int, first, last int) int {
	count := 0
	for _, n := range numbers {
		if n >= first && n <= last {
			count++
		}
	}
	return count
}
