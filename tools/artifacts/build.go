package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// builder brings a store to what a table says.
//
// A store keeps each version that it was ever brought to in versions/DIGEST, and each program in programs/NAME-DIGEST, until
// nothing has asked for it for a while. Two checkouts with different pins so share one store without compiling in turns.
type builder struct {
	store, tools string
	table        artifacts.Table
	progress     io.Writer
	compile      func(ctx context.Context, tools string, p artifacts.Program, file string) (log []byte, err error)
}

// fresh ends the name of what is not whole yet.
const fresh = ".new"

// unused is how long what nothing asks for stays.
const unused = 30 * 24 * time.Hour

func (b *builder) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "artifacts: "+format+"\n", args...)
}

// build makes what is missing and then, at once, makes it current.
func (b *builder) build(ctx context.Context) error {
	want, err := b.digests()
	if err != nil {
		return err
	}
	version := filepath.Join("versions", want.all)
	link := filepath.Join(b.store, artifacts.Current)
	if at, err := os.Readlink(link); err == nil && at == version && exists(filepath.Join(b.store, version)) {
		_ = b.touch(want) // not everybody who asks may write
		return nil
	}
	for _, folder := range []string{"versions", "programs"} {
		if err := os.MkdirAll(filepath.Join(b.store, folder), 0o755); err != nil {
			return fmt.Errorf("making the store: %w (as root, or with %s naming another folder)", err, artifacts.StoreVariable)
		}
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if !exists(filepath.Join(b.store, version)) {
		begin := time.Now()
		if err := b.make(ctx, want, filepath.Join(b.store, version)); err != nil {
			return err
		}
		b.say("made in %.0f s: %s", time.Since(begin).Seconds(), b.store)
	}
	if err := relink(version, link); err != nil {
		return err
	}
	return b.sweep(want)
}

// buildPrograms makes the programs of a table that are missing, and nothing of them: they are run where they lie.
func (b *builder) buildPrograms(ctx context.Context) error {
	want, err := b.digests()
	if err != nil {
		return err
	}
	missing := func(p artifacts.Program) bool { return !exists(want.programFile(b.store, p.Name)) }
	if !slices.ContainsFunc(b.table.Programs, missing) {
		_ = b.touchPrograms(want) // not everybody who asks may write
		return nil
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.compilePrograms(ctx, want); err != nil {
		return err
	}
	return b.touchPrograms(want)
}

func (b *builder) compilePrograms(ctx context.Context, want digests) error {
	for i, p := range b.table.Programs {
		if err := b.program(ctx, p, want.programFile(b.store, p.Name), fmt.Sprintf("%d of %d", i+1, len(b.table.Programs))); err != nil {
			return err
		}
	}
	return nil
}

// make makes a version under another name and gives it its own when it is whole.
func (b *builder) make(ctx context.Context, want digests, version string) error {
	if err := b.compilePrograms(ctx, want); err != nil {
		return err
	}
	partial := version + fresh
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("making a version: %w", err)
	}
	file := func(program string) string { return want.programFile(b.store, program) }
	if err := b.writeImages(ctx, file, filepath.Join(partial, artifacts.ImagesFolder)); err != nil {
		return err
	}
	if err := writeBinaries(b.table.Binaries, file, filepath.Join(partial, artifacts.BinariesFolder)); err != nil {
		return err
	}
	if err := b.writeCharts(ctx, filepath.Join(partial, artifacts.ChartsFolder)); err != nil {
		return err
	}
	if err := copySelf(filepath.Join(partial, artifacts.ServerFile)); err != nil {
		return err
	}
	if err := os.Rename(partial, version); err != nil {
		return fmt.Errorf("making a version: %w", err)
	}
	return nil
}

// relink points a link elsewhere, so that at any time it points somewhere.
func relink(target, link string) error {
	other := link + fresh
	if err := os.Remove(other); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("making a version current: %w", err)
	}
	if err := os.Symlink(target, other); err != nil {
		return fmt.Errorf("making a version current: %w", err)
	}
	if err := os.Rename(other, link); err != nil {
		return fmt.Errorf("making a version current: %w", err)
	}
	return nil
}

// touch notes what is in use.
func (b *builder) touch(want digests) error {
	if err := use(filepath.Join(b.store, "versions", want.all)); err != nil {
		return err
	}
	return b.touchPrograms(want)
}

func (b *builder) touchPrograms(want digests) error {
	for _, p := range b.table.Programs {
		if err := use(want.programFile(b.store, p.Name)); err != nil {
			return err
		}
	}
	return nil
}

func use(path string) error {
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		return fmt.Errorf("noting what is in use: %w", err)
	}
	return nil
}

// sweep removes what nothing has asked for, and what a run that was killed left: only the holder of the lock makes anything.
func (b *builder) sweep(want digests) error {
	if err := b.touch(want); err != nil {
		return err
	}
	now := time.Now()
	found, err := filepath.Glob(filepath.Join(b.store, "*", "*"))
	if err != nil {
		return err
	}
	for _, path := range found {
		parent := filepath.Base(filepath.Dir(path))
		info, err := os.Lstat(path)
		if err != nil || parent != "versions" && parent != "programs" {
			continue
		}
		if now.Sub(info.ModTime()) < unused && !strings.HasSuffix(path, fresh) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("removing what is unused: %w", err)
		}
	}
	return nil
}

// lock waits for other runs that work on the store.
func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(b.store, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the store: %w", err)
	}
	for waited := false; ; waited = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("locking the store: %w", err)
		}
		if !waited {
			b.say("another run works on %s; waiting for it", b.store)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// copySelf puts this program, which is static, into the store: it serves the store from a container with nothing else.
func copySelf(to string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		return fmt.Errorf("copying this program: %w", err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		return fmt.Errorf("copying this program: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
