package lab

import (
	"os"
	"strings"
	"testing"
)

// TestHostForKubernetes looks for what only hosts of that image have, also after a reboot.
func TestHostForKubernetes(t *testing.T) {
	e := realEngine(t)
	key := testKey(t)
	built, err := e.EnsureImage(t.Context(), ImageSpec{Kubernetes: true})
	if err != nil {
		t.Fatal(err)
	}
	lab := testLab(t, e, "image-kubernetes")
	spec := HostSpec{Lab: lab, Name: "n1", Image: built.Image, AuthorizedKey: key.Public,
		Volumes: []string{"/var/lib/containerd", "/var/lib/kubelet", "/var/lib/etcd"}}
	h := mustEnsure(t, e, spec)
	say := func(command string) string { return mustRun(t, h, key, command) }

	machine, err := os.ReadFile("/proc/sys/kernel/panic")
	if err != nil {
		t.Fatal(err)
	}
	for _, boot := range []string{"first", "second"} {
		if got := say("systemctl is-system-running --wait; systemctl --failed --no-legend --plain"); got != "running" {
			t.Errorf("%s boot: the host is %q", boot, got)
		}
		if got := say("systemctl is-enabled containerd; systemctl is-active containerd; true"); got != "disabled\ninactive" {
			t.Errorf("%s boot: containerd is %q", boot, got)
		}
		if got := say("stat -c '%t %T' /dev/kmsg; findmnt -n -o PROPAGATION / | cut -d, -f1; for v in containerd kubelet etcd; do mountpoint -q /var/lib/$v || echo $v; done; mkdir /sys/fs/cgroup/memory/try && rmdir /sys/fs/cgroup/memory/try && echo writable"); got != "1 b\nshared\nwritable" {
			t.Errorf("%s boot: the host has %q", boot, got)
		}
		if got := say("echo 77 >/proc/sys/kernel/panic; cat /proc/sys/kernel/panic"); got != "77" {
			t.Errorf("%s boot: the setting is %q", boot, got)
		}
		if now, err := os.ReadFile("/proc/sys/kernel/panic"); err != nil || string(now) != string(machine) {
			t.Errorf("%s boot: the machine's own setting became %q, %v", boot, now, err)
		}
		if boot == "first" {
			if _, err := e.docker.run(t.Context(), "restart", h.Container); err != nil {
				t.Fatal(err)
			}
			h = mustEnsure(t, e, spec)
		}
	}
	if got := say("systemctl start containerd && ctr version | grep -c Version && runc --version | head -1 && ls /usr/lib/cni/ptp /usr/lib/cni/host-local"); !strings.HasPrefix(got, "2\nrunc ") {
		t.Errorf("the runtime says %q", got)
	}

	plain := mustEnsure(t, e, HostSpec{Lab: lab, Name: "n2", Image: testImage(t, e, ""), AuthorizedKey: key.Public})
	if got := mustRun(t, plain, key, "ls /dev/kmsg /usr/bin/containerd 2>/dev/null; findmnt -n /proc/sys/kernel/panic; true"); got != "" {
		t.Errorf("another host has %q", got)
	}
}
