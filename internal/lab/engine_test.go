package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// realEngine returns the machine's engine, or skips the test where none can be had.
func realEngine(t *testing.T) *Engine {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a Docker engine and an image; not in -short")
	}
	e, err := EnsureEngine(t.Context(), testWriter{t})
	if err != nil {
		t.Skipf("needs a Docker engine: %v", err)
	}
	return e
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	fmt.Fprint(os.Stderr, string(p))
	return len(p), nil
}

// testLab makes a lab of its own name and checks at the end that nothing of it is left.
func testLab(t *testing.T, e *Engine, suffix string) string {
	t.Helper()
	name := fmt.Sprintf("t%d-%s", os.Getpid(), suffix)
	if _, err := e.EnsureNetwork(t.Context(), NetworkSpec{Lab: name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for range 2 { // the second time there is nothing to remove
			if err := e.RemoveNetwork(ctx, name); err != nil {
				t.Error(err)
			}
		}
		if left := everything(t, e, name); len(left) > 0 {
			t.Errorf("destroy left %v", left)
		}
		if _, err := os.Stat(e.registry(name).dir()); !os.IsNotExist(err) {
			t.Errorf("destroy left %s", e.registry(name).dir())
		}
	})
	return name
}

// everything lists what the engine has of a lab, by name: also what lost its labels.
func everything(t *testing.T, e *Engine, lab string) []string {
	t.Helper()
	var found []string
	for _, args := range [][]string{
		{"ps", "-a", "--format", "container {{.Names}}"},
		{"network", "ls", "--format", "network {{.Name}}"},
		{"volume", "ls", "--format", "volume {{.Name}}"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		out, err := e.docker.run(ctx, args...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out) {
			_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name == NetworkName(lab) || strings.HasPrefix(name, ContainerName(lab, "")) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found
}

func testImage(t *testing.T, e *Engine, slurm string) string {
	t.Helper()
	info, err := e.EnsureImage(t.Context(), ImageSpec{Slurm: slurm})
	if err != nil {
		t.Fatal(err)
	}
	return info.Image
}

func testKey(t *testing.T) KeyPair {
	t.Helper()
	key, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// onHost runs a command on a host over SSH, with the host's key verified.
func onHost(t *testing.T, h HostInfo, user string, key KeyPair, command string) (string, error) {
	t.Helper()
	signer, err := ssh.ParsePrivateKey([]byte(key.Private))
	if err != nil {
		t.Fatal(err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(h.HostKey))
	if err != nil {
		t.Fatal(err)
	}
	client, err := ssh.Dial("tcp", net.JoinHostPort(h.Address, "22"), &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, Timeout: 10 * time.Second,
		HostKeyCallback: ssh.FixedHostKey(public), HostKeyAlgorithms: []string{public.Type()},
	})
	if err != nil {
		return "", err
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	out, err := session.CombinedOutput(command)
	return strings.TrimSpace(string(out)), err
}

func mustRun(t *testing.T, h HostInfo, key KeyPair, command string) string {
	t.Helper()
	out, err := onHost(t, h, "root", key, command)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", h.Name, command, err, out)
	}
	return out
}

func mustEnsure(t *testing.T, e *Engine, spec HostSpec) HostInfo {
	t.Helper()
	h, err := e.EnsureHost(t.Context(), spec)
	if err != nil {
		out, _ := exec.Command("docker", "logs", "--tail", "30", ContainerName(spec.Lab, spec.Name)).CombinedOutput()
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

func TestHostLifeOnARealEngine(t *testing.T) {
	e := realEngine(t)
	image := testImage(t, e, "24.11")
	lab := testLab(t, e, "life")
	key := testKey(t)
	spec := HostSpec{Lab: lab, Name: "gpu1", Image: image, AuthorizedKey: key.Public, SudoUser: true,
		Hardware: Hardware{Sockets: 2, CoresPerSocket: 56, ThreadsPerCore: 2, MemoryMiB: 2048000, GPUs: GPUs{Count: 8}}}
	begin := time.Now()
	h := mustEnsure(t, e, spec)
	t.Logf("host ready after %.1f s", time.Since(begin).Seconds())

	if got := mustRun(t, h, key, "systemctl is-system-running --wait; systemctl --failed --no-legend --plain"); got != "running" {
		t.Errorf("the host is %q", got)
	}
	if got := mustRun(t, h, key, "hostname; id -un; getent hosts gpu1 | cut -d' ' -f1"); got != "gpu1\nroot\n"+h.Address {
		t.Errorf("the host says of itself %q", got)
	}
	if got, err := onHost(t, h, "ops", key, "sudo -n id -un"); err != nil || got != "root" {
		t.Errorf("ops with sudo is %q, %v", got, err)
	}
	gpus := func() string {
		return mustRun(t, h, key, "ls /dev/nvidia[0-9]* | wc -l; nvidia-smi -L 2>/dev/null | wc -l")
	}
	if got := gpus(); got != "8\n8" {
		t.Errorf("GPUs are %q", got)
	}

	if _, err := e.docker.run(t.Context(), "restart", h.Container); err != nil {
		t.Fatal(err)
	}
	if again := mustEnsure(t, e, spec); again != h {
		t.Errorf("after a reboot the host is %+v, was %+v", again, h)
	}
	if got := gpus(); got != "8\n8" {
		t.Errorf("after a reboot GPUs are %q", got)
	}

	boot := mustRun(t, h, key, "cat /proc/1/stat | cut -d' ' -f22")
	spec.Hardware.GPUs.Count = 4
	spec.SudoUser = false
	if again := mustEnsure(t, e, spec); again != h {
		t.Errorf("with fewer GPUs the host is %+v, was %+v", again, h)
	}
	if got := gpus(); got != "4\n4" {
		t.Errorf("after a change GPUs are %q", got)
	}
	if got := mustRun(t, h, key, "cat /proc/1/stat | cut -d' ' -f22"); got != boot {
		t.Error("a change of GPUs restarted the host")
	}
	if _, err := onHost(t, h, "ops", key, "true"); err == nil {
		t.Error("ops may still log in")
	}
}

func TestHostIsMadeAnewAndMended(t *testing.T) {
	e := realEngine(t)
	image := testImage(t, e, "24.11")
	lab := testLab(t, e, "anew")
	key := testKey(t)
	spec := HostSpec{Lab: lab, Name: "n1", Image: image, AuthorizedKey: key.Public}
	peer := spec
	peer.Name = "n2"

	// Two runs at once make one host.
	both := make(chan HostInfo, 2)
	for range 2 {
		go func() {
			h, err := e.EnsureHost(t.Context(), spec)
			if err != nil {
				t.Error(err)
			}
			both <- h
		}()
	}
	h, other := <-both, <-both
	if h != other {
		t.Fatalf("two runs at once made %+v and %+v", h, other)
	}
	h2 := mustEnsure(t, e, peer)

	// Another list of volumes makes it anew; who it is stays.
	spec.Volumes = []string{"/var/lib/data"}
	mustRun(t, h, key, "touch /root/installed")
	anew := mustEnsure(t, e, spec)
	if anew.Instance == h.Instance {
		t.Error("a host made anew is the same instance")
	}
	if anew.Address != h.Address || anew.HostKey != h.HostKey {
		t.Errorf("made anew the host is %+v, was %+v", anew, h)
	}
	if got := mustRun(t, anew, key, "ls /root/installed 2>/dev/null; findmnt -no FSROOT /var/lib/data | grep -c volumes"); got != "1" {
		t.Errorf("the new host says %q", got)
	}

	// Broken from outside, it is mended; while it is down, others still know its name.
	breaks := map[string][]string{
		"killed":       {"kill", anew.Container},
		"disconnected": {"network", "disconnect", NetworkName(lab), anew.Container},
		"cut off":      {"exec", anew.Container, "sh", "-c", `ip link set "$(ip -o route show default | cut -d' ' -f5)" down`},
	}
	e.silence = 3 * time.Second
	for name, args := range breaks {
		if err := e.ProbeHost(t.Context(), lab, anew); err != nil {
			t.Errorf("before it is %s: %v", name, err)
		}
		if _, err := e.docker.run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
		if err := e.ProbeHost(t.Context(), lab, anew); err == nil {
			t.Errorf("a host that is %s passes the probe", name)
		}
		if got := mustRun(t, h2, key, "getent hosts n1"); !strings.HasPrefix(got, anew.Address) {
			t.Errorf("while n1 is %s, n2 resolves it to %q", name, got)
		}
		if mended := mustEnsure(t, e, spec); mended != anew {
			t.Errorf("%s and mended the host is %+v, was %+v", name, mended, anew)
		}
	}

	// Removed, also when half gone, it leaves nothing; a host of that name may come again.
	if _, err := e.docker.run(t.Context(), "rm", "-f", anew.Container); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.RemoveHost(t.Context(), lab, "n1"); err != nil {
			t.Fatal(err)
		}
	}
	for _, left := range everything(t, e, lab) {
		if strings.Contains(left, ".n1") {
			t.Errorf("removing n1 left %s", left)
		}
	}
	if out, err := onHost(t, h2, "root", key, "getent hosts n1"); err == nil {
		t.Errorf("n2 still resolves n1: %s", out)
	}
}

func TestLabsSideBySide(t *testing.T) {
	e := realEngine(t)
	image := testImage(t, e, "24.11")
	key := testKey(t)
	names := []string{testLab(t, e, "a"), testLab(t, e, "a-b")}

	hosts := make([]HostInfo, 2)
	done := make(chan error, 2)
	for i, lab := range names {
		go func() {
			h, err := e.EnsureHost(t.Context(), HostSpec{Lab: lab, Name: "c", Image: image, AuthorizedKey: key.Public})
			hosts[i] = h
			done <- err
		}()
	}
	for range names {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	subnets := map[string]bool{}
	for i, lab := range names {
		n, err := e.EnsureNetwork(t.Context(), NetworkSpec{Lab: lab})
		if err != nil {
			t.Fatal(err)
		}
		subnets[n.Subnet] = true
		if got := mustRun(t, hosts[i], key, "getent hosts c | cut -d' ' -f1; ip -4 -o address show eth0 | grep -c "+hosts[i].Address); got != hosts[i].Address+"\n1" {
			t.Errorf("host c of %s says %q", lab, got)
		}
	}
	if len(subnets) != 2 || hosts[0].Address == hosts[1].Address || hosts[0].HostKey == hosts[1].HostKey {
		t.Errorf("two labs share something: %v %+v", subnets, hosts)
	}
	ids := mustRun(t, hosts[0], key, "cat /etc/machine-id /proc/sys/kernel/random/boot_id") + "\n" +
		mustRun(t, hosts[1], key, "cat /etc/machine-id /proc/sys/kernel/random/boot_id")
	if lines := strings.Fields(ids); len(slices.Compact(slices.Sorted(slices.Values(lines)))) != 4 {
		t.Errorf("machine and boot ids are not all different:\n%s", ids)
	}

	if err := e.RemoveNetwork(t.Context(), names[0]); err != nil {
		t.Fatal(err)
	}
	if err := e.ProbeHost(t.Context(), names[1], hosts[1]); err != nil {
		t.Errorf("removing one lab hurt the other: %v", err)
	}
}

func TestNetworksOfOthersAreLeftAlone(t *testing.T) {
	e := realEngine(t)
	lab := fmt.Sprintf("t%d-foreign", os.Getpid())
	subnet, err := e.freeSubnet(t.Context(), lab)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.docker.run(t.Context(), "network", "create", "--subnet", subnet.String(), NetworkName(lab)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.docker.run(context.Background(), "network", "rm", NetworkName(lab)); err != nil {
			t.Error(err)
		}
	})
	if _, err := e.EnsureNetwork(t.Context(), NetworkSpec{Lab: lab}); err == nil || !strings.Contains(err.Error(), "was not made by a lab") {
		t.Errorf("a foreign network was taken: %v", err)
	}
	if err := e.RemoveNetwork(t.Context(), lab); err != nil {
		t.Error(err)
	}
	if _, err := e.inspectNetwork(t.Context(), NetworkName(lab)); err != nil {
		t.Errorf("a foreign network was removed: %v", err)
	}
	clash := NetworkSpec{Lab: lab + "2", Subnet: subnet.String()}
	if _, err := e.EnsureNetwork(t.Context(), clash); err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("a subnet in use was given out: %v", err)
	}
}
