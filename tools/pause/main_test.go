package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const patience = 10 * time.Second

// TestHold checks that children are collected, and that a signal to end ends it.
func TestHold(t *testing.T) {
	var children []int
	for range 3 {
		pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit 0"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, pid)
	}
	signals, ended := make(chan os.Signal), make(chan struct{})
	go func() { hold(signals); close(ended) }()
	deadline := time.Now().Add(patience)
	for _, pid := range children {
		// A child that was not collected still takes signals, be it dead.
		for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			if time.Now().After(deadline) {
				t.Fatalf("child %d is not collected", pid)
			}
			signals <- syscall.SIGCHLD
		}
	}
	select {
	case <-ended:
		t.Fatal("it ends with its children")
	case signals <- syscall.SIGTERM:
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("SIGTERM does not end it")
	}
}

// TestVersionEnds checks that the program ends at once when it is asked for its
// version, as the Job does with which kubeadm looks at a cluster before an upgrade.
func TestVersionEnds(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pause")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, "-v").CombinedOutput(); err != nil || string(out) != "pause\n" {
		t.Errorf("%v: %q", err, out)
	}
}
