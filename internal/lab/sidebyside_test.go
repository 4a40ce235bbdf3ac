package lab

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

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
		// What a kubelet and slurmd need of a host.
		got := mustRun(t, hosts[i], key, `test -c /dev/fuse && findmnt -no PROPAGATION / | cut -d, -f1
			d=/sys/fs/cgroup; test -d $d/memory && d=$d/memory; mkdir $d/x && rmdir $d/x && echo writable`)
		if got != "shared\nwritable" {
			t.Errorf("host c of %s lacks something: %q", lab, got)
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
