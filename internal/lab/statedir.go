package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// stateDir is where labs of this machine keep what containers cannot: locks, hosts files,
// the engine's log. It is not inside any checkout, so every checkout sees the same labs.
type stateDir string

// StateDirEnv names the environment variable that moves the state folder.
const StateDirEnv = "GPUCLUSTER_LAB_STATE"

// defaultStateDir is /var/lib/gpucluster/lab for root, and below the user's own state
// folder for others.
func defaultStateDir() stateDir {
	if dir := os.Getenv(StateDirEnv); dir != "" {
		return stateDir(dir)
	}
	if os.Geteuid() == 0 {
		return "/var/lib/gpucluster/lab"
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return stateDir(filepath.Join(dir, "gpucluster", "lab"))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return stateDir(filepath.Join(home, ".local", "state", "gpucluster", "lab"))
}

// sub makes and returns a folder below the state folder.
func (s stateDir) sub(name string) (string, error) {
	dir := filepath.Join(string(s), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the lab's state folder: %w", err)
	}
	return dir, nil
}

// lock takes a machine-wide lock and returns what releases it. The file goes away with the
// lock; the kernel frees it when the holder dies.
func (s stateDir) lock(ctx context.Context, name string) (func(), error) {
	return s.lockWith(ctx, name, nil)
}

// lockWith is lock that calls onWait once when somebody else holds the lock.
func (s stateDir) lockWith(ctx context.Context, name string, onWait func()) (func(), error) {
	dir, err := s.sub("locks")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	for waited := false; ; waited = true {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		// The last holder may have unlinked the file between our open and our lock: then
		// we hold a lock that nobody else will ever see.
		if err == nil && sameFile(f, path) {
			return func() { _ = os.Remove(path); _ = f.Close() }, nil
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		if err != nil {
			if !waited && onWait != nil {
				onWait()
			}
			if err := sleep(ctx, 50*time.Millisecond); err != nil {
				return nil, fmt.Errorf("waiting for the lock %s: %w", name, err)
			}
		}
	}
}

func sameFile(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}
