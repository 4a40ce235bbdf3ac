package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// serversFile is an environment of an inventory, with the hardware of this machine:
// a controller, two compute hosts and one that nobody has switched on.
const serversFile = `config:
  gpucluster:environment:
    name: NAME
    scheduler: slurm
    inventory:
      addresses: {ctl1: %s, gpu1: %s, gpu2: %s, gpu3: %s}
      ssh:
        hostKeys:
          - "%s"
          - "%s"
          - "%s"
          - "%s ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILbUvNX/z6IMIjDBINPugNItb+vxM74K9rJtu6GcgYiy"
    profiles:
      box: {sockets: %s, coresPerSocket: %s, threadsPerCore: %s, memory: 9TiB, usableMemory: 1GiB}
    hosts:
      - {names: ctl1, profile: box, roles: [controller, database]}
      - {names: "gpu[1-3]", profile: box, roles: [compute]}
    slurm:
      version: "24.11"
      partitions:
        - {name: batch, hosts: "gpu[1-3]", default: true}
`

// TestDeadHost builds a cluster of servers of which one does not answer: the run
// goes on with the others, and names it at its end. Without it, all is well.
func TestDeadHost(t *testing.T) {
	long(t)
	t.Parallel()
	servers := labtest.New(t, "servers", lab.ImageSpec{Slurm: "24.11"}, lab.HostSpec{Name: "ctl1"}, lab.HostSpec{Name: "gpu1"}, lab.HostSpec{Name: "gpu3"})
	made := servers.Hosts
	agent := agent(t, servers.Key)
	dead := made[0].Address[:strings.LastIndex(made[0].Address, ".")] + ".250"
	hostKey := func(h lab.HostInfo) string { return h.Address + " " + h.HostKey }
	c := cluster.New(t, "dead", fmt.Sprintf(serversFile, made[0].Address, made[1].Address, dead, made[2].Address,
		hostKey(made[0]), hostKey(made[1]), hostKey(made[2]), dead,
		lscpu(t, "Socket(s)"), lscpu(t, "Core(s) per socket"), lscpu(t, "Thread(s) per core")))
	c.Variables = []string{"SSH_AUTH_SOCK=" + agent}
	states := func() string {
		out, err := cluster.Exec(t, made[0].Container, "sinfo -h -N -o '%N %T'", "")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(out), " ")
	}
	run := c.TryUp(t)
	if run.Err == nil {
		t.Error("up succeeds without gpu2")
	}
	wantSays(t, run, "gpu2: cannot be reached over SSH", "all others are ready")
	if got := states(); !strings.Contains(got, "gpu1 idle gpu2 d") || !strings.Contains(got, "gpu3 idle") {
		t.Errorf("hosts are %q, want gpu1 and gpu3 to take jobs", got)
	}
	c.Edit(t, `names: "gpu[1-3]"`, `names: "gpu[1,3]"`, `hosts: "gpu[1-3]"`, `hosts: "gpu[1,3]"`, "gpu2: "+dead+", ", "")
	wantSays(t, c.Up(t), "gpu2 is gone; nothing is removed from it")
	if got := states(); got != "gpu1 idle gpu3 idle" {
		t.Errorf("without gpu2, hosts are %q", got)
	}
}

// agent starts an SSH agent of the test that holds the key, and returns its socket.
func agent(t *testing.T, key lab.KeyPair) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "agent")
	serving := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serving.Process.Kill()
		_ = serving.Wait()
	})
	cluster.Until(t, "the agent to take the key", 10*time.Second, func() error {
		add := exec.Command("ssh-add", "-")
		add.Stdin = strings.NewReader(key.Private)
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
		return add.Run()
	})
	return socket
}

// lscpu is what the machine, and with it each container, says of its processors.
func lscpu(t *testing.T, field string) string {
	t.Helper()
	out, err := exec.Command("lscpu").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == field {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("lscpu does not tell %s", field)
	return ""
}
