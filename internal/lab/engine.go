package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Engine is a running Docker engine and the place where labs keep their small files.
type Engine struct {
	docker   docker
	progress io.Writer
	state    stateDir
	info     EngineInfo
	// silence bounds how long a host that runs already may be silent before it is rebooted.
	silence time.Duration
}

// EngineInfo is what the running engine says of itself.
type EngineInfo struct {
	// Version is the engine's version, such as "20.10.24".
	Version string `json:"version"`
	// CgroupVersion is "1" or "2".
	CgroupVersion string `json:"cgroupVersion"`
	// Started tells whether EnsureEngine had to start it.
	Started bool `json:"-"`
}

// Info returns what the engine said when it was found.
func (e *Engine) Info() EngineInfo { return e.info }

// HintError is an error with advice on what to do about it.
type HintError struct {
	// Err is what is wrong.
	Err error
	// Hint is what to do.
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() + " (" + e.Hint + ")" }

// Unwrap returns the error without its hint.
func (e *HintError) Unwrap() error { return e.Err }

// engineWait bounds how long a started engine may take to answer. On a slow disk with many
// containers to restore it takes tens of seconds; an idle one takes under two.
const engineWait = 90 * time.Second

// EnsureEngine returns the Docker engine of this machine and starts one when none runs and
// the caller is root. The engine it starts outlives the caller. Progress lines go to
// progress; nil drops them. Errors carry a hint (HintError) when something is missing.
func EnsureEngine(ctx context.Context, progress io.Writer) (*Engine, error) {
	e, err := newEngine(progress)
	if err != nil {
		return nil, err
	}
	info, err := e.ask(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if info, err = e.start(ctx, err); err != nil {
			return nil, err
		}
	}
	e.info = info
	return e, nil
}

// FindEngine returns the Docker engine of this machine where one runs. It starts none.
func FindEngine(ctx context.Context, progress io.Writer) (*Engine, error) {
	e, err := newEngine(progress)
	if err != nil {
		return nil, err
	}
	if e.info, err = e.ask(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

func newEngine(progress io.Writer) (*Engine, error) {
	if progress == nil {
		progress = io.Discard
	}
	path, err := exec.LookPath("docker")
	if err != nil {
		return nil, &HintError{Err: errors.New("the lab needs Docker, and there is no docker command on PATH"),
			Hint: "install it: apt-get install docker.io"}
	}
	return &Engine{docker: docker{path: path}, progress: progress, state: defaultStateDir(), silence: time.Minute}, nil
}

// ask asks the engine for its version.
func (e *Engine) ask(ctx context.Context) (EngineInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	out, err := e.docker.run(ctx, "info", "--format", "{{.ServerVersion}}|{{.CgroupVersion}}")
	if err != nil {
		// Without an engine, `info` fails over its own format; `version` says what is wrong.
		if _, err := e.docker.run(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
			return EngineInfo{}, err
		}
		return EngineInfo{}, err
	}
	version, cgroup, ok := strings.Cut(out, "|")
	if !ok || version == "" {
		return EngineInfo{}, fmt.Errorf("asking the Docker engine: unexpected answer %q", out)
	}
	return EngineInfo{Version: version, CgroupVersion: cgroup}, nil
}

// start starts an engine, once even if many callers find none at the same time.
func (e *Engine) start(ctx context.Context, asked error) (EngineInfo, error) {
	if os.Getenv("DOCKER_HOST") != "" {
		return EngineInfo{}, &HintError{Err: asked, Hint: "DOCKER_HOST names an engine that does not answer; start it or unset DOCKER_HOST"}
	}
	if os.Geteuid() != 0 {
		return EngineInfo{}, &HintError{Err: asked, Hint: "no Docker engine answers, and only root may start one; run `sudo systemctl start docker`, or join the group docker if it runs"}
	}
	unlock, err := e.state.lock(ctx, "engine")
	if err != nil {
		return EngineInfo{}, err
	}
	defer unlock()
	if info, err := e.ask(ctx); err == nil {
		return info, nil
	}
	fmt.Fprintln(e.progress, "lab: starting the Docker engine")
	launched, err := launchEngine(ctx, e.state)
	if err != nil {
		return EngineInfo{}, err
	}
	begin := time.Now()
	for {
		info, err := e.ask(ctx)
		if err == nil {
			info.Started = true
			fmt.Fprintf(e.progress, "lab: Docker %s answers after %.1f s\n", info.Version, time.Since(begin).Seconds())
			return info, nil
		}
		select {
		case <-launched.ended:
			return EngineInfo{}, &HintError{Err: errors.New("the Docker engine ended right after it was started"), Hint: "see " + launched.log}
		case <-ctx.Done():
			return EngineInfo{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if time.Since(begin) > engineWait {
			return EngineInfo{}, &HintError{Err: fmt.Errorf("the Docker engine did not answer within %s: %w", engineWait, err),
				Hint: "see " + launched.log}
		}
	}
}

// sleep waits, or returns early with the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
