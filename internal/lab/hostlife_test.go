package lab

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestHostLifeOnARealEngine(t *testing.T) {
	e := realEngine(t)
	image := testImage(t, e, "24.11")
	lab := testLab(t, e, "life")
	key := testKey(t)
	spec := HostSpec{Lab: lab, Name: "gpu1", Image: image, AuthorizedKey: key.Public, SudoUser: true,
		Hardware: Hardware{Sockets: 2, CoresPerSocket: 56, ThreadsPerCore: 2, MemoryMiB: 2048000, GPUs: []GPUs{{Count: 8}}}}
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
	checkStandIn(t, h, key)
	if got := mustRun(t, h, key, "cat "+HardwareFile); got != strings.TrimSpace(string(spec.withDefaults().hardwareJSON())) {
		t.Errorf("the hardware file is %s", got)
	}
	if out, err := onHost(t, h, "root", key, "apt-get install -qy hello && hello"); err != nil {
		t.Errorf("installing a package: %v\n%s", err, out)
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
	spec.Hardware.GPUs[0].Count = 4
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

	// Without its network the lab is mended too, hosts that are down included; who they are stays.
	network, err := e.EnsureNetwork(t.Context(), NetworkSpec{Lab: lab})
	if err := errors.Join(err, e.ProbeNetwork(t.Context(), lab)); err != nil {
		t.Errorf("before the network is removed: %v", err)
	}
	for _, args := range [][]string{
		{"stop", "-t", "1", anew.Container},
		{"network", "disconnect", NetworkName(lab), h2.Container},
		{"network", "rm", NetworkName(lab)},
	} {
		if _, err := e.docker.run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.ProbeNetwork(t.Context(), lab); err == nil || !strings.Contains(err.Error(), "has no network") {
		t.Errorf("of a network that is gone the probe says %v", err)
	}
	if _, err := e.EnsureNetwork(t.Context(), NetworkSpec{Lab: lab, Subnet: network.Subnet}); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []struct {
		spec HostSpec
		was  HostInfo
	}{{spec, anew}, {peer, h2}} {
		if mended := mustEnsure(t, e, lost.spec); mended != lost.was {
			t.Errorf("in a new network the host is %+v, was %+v", mended, lost.was)
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
