package lab

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLockAdmitsOneAtATimeAndLeavesNoFile(t *testing.T) {
	s := stateDir(t.TempDir())
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				unlock, err := s.lock(t.Context(), "x")
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Millisecond)
				inside.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d holders at once", most.Load())
	}
	if left, _ := filepath.Glob(filepath.Join(string(s), "locks", "*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestLockGivesUpWithItsContext(t *testing.T) {
	s := stateDir(t.TempDir())
	unlock, err := s.lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
	defer cancel()
	waits := 0
	if _, err := s.lockWith(ctx, "x", func() { waits++ }); err == nil {
		t.Error("a held lock was given out")
	}
	if waits != 1 {
		t.Errorf("the wait was told %d times", waits)
	}
}

func TestLockSurvivesAFileThatAnEarlierHolderLeft(t *testing.T) {
	s := stateDir(t.TempDir())
	dir, err := s.sub("locks")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := s.lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
