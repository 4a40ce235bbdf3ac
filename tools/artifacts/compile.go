package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// program compiles a program into the store, unless it is there.
func (b *builder) program(ctx context.Context, p artifacts.Program, file, position string) error {
	if exists(file) {
		return nil
	}
	title := strings.TrimSpace(p.Name + " " + p.Version)
	b.say("%s: %s: compiling (about %s on 2 cores the first time)", position, title, p.About)
	begin := time.Now()
	stop := b.tick(title, begin)
	log, err := b.compile(ctx, b.tools, p, file+fresh)
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s could not be built: %w\n%sit needs the modules named in tools/%s/%s.mod: check GOPROXY and the network", title, err, lastLines(log, 20), p.Set, cmp.Or(p.Pins, "go"))
	}
	if err := os.Rename(file+fresh, file); err != nil {
		return fmt.Errorf("keeping %s: %w", title, err)
	}
	b.say("%s: %s: done in %.0f s", position, title, time.Since(begin).Seconds())
	return nil
}

// tick says every 10 s that something still runs.
func (b *builder) tick(title string, begin time.Time) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				b.say("%s: %.0f s ...", title, time.Since(begin).Seconds())
			}
		}
	}()
	return func() { close(done); <-ended }
}

// goBuild compiles a static program with the pins of its tool set.
func goBuild(ctx context.Context, tools string, p artifacts.Program, file string) ([]byte, error) {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	args, c := []string{"build", "-ldflags", linkFlags(p), "-o", absolute}, "0"
	if p.C {
		// Go's own lookups of names and people, since those of the C library are not static.
		args, c = append(args, "-tags", "netgo,osusergo"), "1"
	}
	if p.Pins != "" {
		args = append(args, "-modfile", p.Pins+".mod")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, p.Package)...)
	cmd.Dir = filepath.Join(tools, p.Set)
	// Static, since images have nothing else in them; and not stamped with who built it from which commit.
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+c, "GOWORK=off", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd.CombinedOutput()
}

// linkFlags leave out what only debuggers read, and stamp the version.
func linkFlags(p artifacts.Program) string {
	flags := []string{"-s", "-w"}
	if p.C {
		flags = append(flags, "-extldflags", "-static")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Stamps)) {
		flags = append(flags, "-X", name+"="+p.Stamps[name])
	}
	return strings.Join(flags, " ")
}

func lastLines(text []byte, n int) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n-1):], nil)
}
