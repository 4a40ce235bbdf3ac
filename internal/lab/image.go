package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// pullWait bounds the try to get the bare release from a registry. Where none can be
// reached the answer usually comes at once; a silent one is not waited for.
const pullWait = 20 * time.Second

// buildContainer is the container in which a layer is made. It has a name and no label:
// a label would be in the image, and then on every host made from it.
const buildContainer = "gpucluster-lab-build"

// packageCacheDir keeps downloaded packages between builds, one folder a release.
const packageCacheDir = "/var/cache/gpucluster/packages"

// ProbeImage tells whether the image that a spec asks for is there. It builds none.
func (e *Engine) ProbeImage(ctx context.Context, spec ImageSpec) error {
	name, err := ImageName(spec)
	if err != nil {
		return err
	}
	have, err := e.hasImage(ctx, name)
	if err == nil && !have {
		err = fmt.Errorf("the lab's image %s is gone", name)
	}
	return err
}

// EnsureImage builds the image that a spec asks for, once for this machine, and returns its
// name. A build prints its progress; it leaves nothing behind when it fails.
func (e *Engine) EnsureImage(ctx context.Context, spec ImageSpec) (ImageInfo, error) {
	r, err := machineRecipe(spec)
	if err != nil {
		return ImageInfo{}, fmt.Errorf("building the lab's image: %w", err)
	}
	have, err := e.hasImage(ctx, r.tag())
	if err != nil || have {
		return ImageInfo{Image: r.tag()}, err
	}
	unlock, err := e.state.lockWith(ctx, "image", func() {
		fmt.Fprintln(e.progress, "lab: waiting for another run that builds an image")
	})
	if err != nil {
		return ImageInfo{}, err
	}
	defer unlock()
	if err := e.sweepBuild(ctx); err != nil {
		return ImageInfo{}, err
	}
	if err := e.build(ctx, r); err != nil {
		return ImageInfo{}, fmt.Errorf("building the lab's image %s: %w", r.tag(), err)
	}
	return ImageInfo{Image: r.tag()}, nil
}

// sweepBuild removes what a build that was killed left. Only the holder of the image lock
// builds, so whatever is there is dead.
func (e *Engine) sweepBuild(ctx context.Context) error {
	return e.removeContainer(ctx, buildContainer)
}

func (e *Engine) hasImage(ctx context.Context, tag string) (bool, error) {
	_, err := e.docker.run(ctx, "image", "inspect", "--format", "{{.Id}}", tag)
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// build makes the layers that are missing, lowest first.
func (e *Engine) build(ctx context.Context, r recipe) error {
	type layer struct {
		tag   string
		title string
		make  func(context.Context) error
	}
	layers := []layer{
		{r.rootTag(), "Debian " + r.Release, func(ctx context.Context) error { return e.buildRoot(ctx, r) }},
		{r.serverTag(), "packages of a server", func(ctx context.Context) error { return e.buildServer(ctx, r) }},
		{r.slurmTag(), r.title(), func(ctx context.Context) error { return e.buildSlurm(ctx, r) }},
	}
	if r.Kubernetes {
		layers = append(layers, layer{r.tag(), "packages for Kubernetes", func(ctx context.Context) error { return e.buildKubernetes(ctx, r) }})
	}
	for i := len(layers) - 1; i >= 0; i-- {
		have, err := e.hasImage(ctx, layers[i].tag)
		if err != nil {
			return err
		}
		if have {
			layers = layers[i+1:]
			break
		}
	}
	for _, l := range layers {
		fmt.Fprintf(e.progress, "lab: building %s: %s (once for this machine)\n", l.tag, l.title)
		begin := time.Now()
		if err := l.make(ctx); err != nil {
			return err
		}
		fmt.Fprintf(e.progress, "lab: built %s in %.0f s\n", l.tag, time.Since(begin).Seconds())
	}
	return nil
}

// buildRoot gets the bare release: from a registry when one answers, else from Debian's
// packages with mmdebstrap.
func (e *Engine) buildRoot(ctx context.Context, r recipe) error {
	pullCtx, cancel := context.WithTimeout(ctx, pullWait)
	defer cancel()
	upstream := "debian:" + r.Release
	if _, err := e.docker.run(pullCtx, "pull", "-q", upstream); err == nil {
		_, err = e.docker.run(ctx, "tag", upstream, r.rootTag())
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return e.bootstrap(ctx, r)
}

// bootstrap imports the output of mmdebstrap. The image gets its tag only after mmdebstrap
// has ended well: a stream cut short would still be a valid archive.
func (e *Engine) bootstrap(ctx context.Context, r recipe) error {
	path, err := exec.LookPath("mmdebstrap")
	if err != nil {
		return &HintError{Err: errors.New("no registry answers, and mmdebstrap is not installed"),
			Hint: "install it: apt-get install mmdebstrap"}
	}
	dir, err := os.MkdirTemp("", "gpucluster-lab-root-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "root.tar")
	cmd := exec.CommandContext(ctx, path, "--variant=apt", "--include=ca-certificates",
		"--dpkgopt=force-unsafe-io", `--aptopt=Acquire::Languages "none"`, `--aptopt=Acquire::Check-Valid-Until "false"`,
		r.Release, archive, "deb "+r.Mirror+" "+r.Release+" main")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var kept strings.Builder
	cmd.Stderr = io.MultiWriter(&kept, prefixed(e.progress, "lab:   "))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mmdebstrap: %w: %s", err, lastLines(kept.String(), 5))
	}
	_, err = e.docker.run(ctx, "import", archive, r.rootTag())
	return err
}

func (e *Engine) buildServer(ctx context.Context, r recipe) error {
	base := r
	base.Forky = false
	return e.commitScript(ctx, r.rootTag(), r.serverTag(), r.Release, r.Scripts[0],
		[]string{"LAB_SOURCES=" + base.sourcesList()}, r.Server)
}

func (e *Engine) buildSlurm(ctx context.Context, r recipe) error {
	packages := r.slurm()
	if len(packages) == 0 {
		_, err := e.docker.run(ctx, "tag", r.serverTag(), r.slurmTag())
		return err
	}
	env := []string{"LAB_SOURCES=" + r.sourcesList()}
	if r.Forky {
		env = append(env, "LAB_TARGET=forky")
	}
	return e.commitScript(ctx, r.serverTag(), r.slurmTag(), r.Release, r.Scripts[1], env, packages)
}

func (e *Engine) buildKubernetes(ctx context.Context, r recipe) error {
	return e.commitScript(ctx, r.slurmTag(), r.tag(), r.Release, r.Scripts[2], []string{"LAB_SOURCES=" + r.sourcesList()}, kubernetesPackages)
}

// commitScript runs a script in a container of one image and commits the result as another.
func (e *Engine) commitScript(ctx context.Context, from, to, release, script string, env, args []string) error {
	cache := filepath.Join(packageCacheDir, release)
	run := []string{"create", "-i", "--name", buildContainer, "--mount",
		"type=bind,src=" + cache + ",dst=/var/cache/apt/archives"}
	if err := os.MkdirAll(filepath.Join(cache, "partial"), 0o755); err != nil {
		run = run[:len(run)-2] // not root: build without the cache
	}
	for _, entry := range env {
		run = append(run, "-e", entry)
	}
	run = append(run, from, "/bin/sh", "-s", "--")
	id, err := e.docker.run(ctx, append(run, args...)...)
	if err != nil {
		return err
	}
	defer func() {
		// Also after a cancelled build: nothing may stay.
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = e.sweepBuild(cleanup)
	}()
	if err := e.docker.stream(ctx, strings.NewReader(script), buildProgress(e.progress), io.Discard, "start", "-a", "-i", id); err != nil {
		return err
	}
	_, err = e.docker.run(ctx, "commit", "--change", `CMD ["/sbin/init"]`, "--change", "ENV LAB_SOURCES= LAB_TARGET= container=docker", id, to)
	return err
}

// buildProgress shows the lines of apt and dpkg that tell how far a build is.
func buildProgress(to io.Writer) io.Writer {
	return filtered(to, "lab:   ", func(line string) bool {
		return strings.HasPrefix(line, "Setting up ") || strings.HasPrefix(line, "Need to get ") || strings.HasPrefix(line, "Fetched ")
	})
}

func prefixed(to io.Writer, prefix string) io.Writer {
	return filtered(to, prefix, func(string) bool { return true })
}

// filtered returns a writer that passes on whole lines for which keep says yes.
func filtered(to io.Writer, prefix string, keep func(string) bool) io.Writer {
	return &lineFilter{to: to, prefix: prefix, keep: keep}
}

type lineFilter struct {
	to     io.Writer
	prefix string
	keep   func(string) bool
	part   []byte
}

func (f *lineFilter) Write(p []byte) (int, error) {
	f.part = append(f.part, p...)
	for {
		advance, line, _ := bufio.ScanLines(f.part, false)
		if advance == 0 {
			return len(p), nil
		}
		if text := string(line); f.keep(text) {
			fmt.Fprintln(f.to, f.prefix+text)
		}
		f.part = f.part[advance:]
	}
}
