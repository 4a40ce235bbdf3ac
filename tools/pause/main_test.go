package main

import (
	"errors"
	"os"
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
