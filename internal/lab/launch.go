package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// launch is an engine that was told to start.
type launch struct {
	// log says where the engine tells what it does.
	log string
	// ended is closed when the engine's process has ended; nil where systemd runs it.
	ended <-chan struct{}
}

// launchEngine starts the engine through systemd where that is PID 1, else as a detached
// process of its own session.
func launchEngine(ctx context.Context, state stateDir) (launch, error) {
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		out, err := exec.CommandContext(ctx, "systemctl", "start", "docker").CombinedOutput()
		if err != nil {
			return launch{}, &HintError{Err: fmt.Errorf("starting the Docker engine: %s", lastLines(string(out), 3)),
				Hint: "see journalctl -u docker"}
		}
		return launch{log: "journalctl -u docker"}, nil
	}
	dockerd, err := exec.LookPath("dockerd")
	if err != nil {
		return launch{}, &HintError{Err: errors.New("no Docker engine runs, and there is no dockerd to start"),
			Hint: "install it: apt-get install docker.io"}
	}
	dir, err := state.sub("engine")
	if err != nil {
		return launch{}, err
	}
	return launchDetached(dockerd, dir)
}

func launchDetached(dockerd, dir string) (launch, error) {
	pidPath, logPath := filepath.Join(dir, "dockerd.pid"), filepath.Join(dir, "dockerd.log")
	dropStalePID(pidPath)
	logFile, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return launch{}, fmt.Errorf("starting the Docker engine: %w", err)
	}
	defer logFile.Close()
	// exec.Command, not CommandContext: the engine must survive the caller.
	cmd := exec.Command(dockerd, "--pidfile", pidPath)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.Dir = "/"
	cmd.Env = engineEnvironment(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return launch{}, fmt.Errorf("starting the Docker engine: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return launch{log: logPath, ended: ended}, nil
}

// dropStalePID removes a pid file whose process is no engine: after a crash or a reboot
// the number may belong to anybody, and dockerd would refuse to start.
func dropStalePID(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	name, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/comm")
	if err != nil || strings.TrimSpace(string(name)) != "dockerd" {
		_ = os.Remove(path)
	}
}

// engineEnvironment keeps what an engine needs of the caller's environment. The rest, which
// may hold secrets, must not live on in a daemon.
func engineEnvironment(all []string) []string {
	var kept []string
	for _, entry := range all {
		name, _, _ := strings.Cut(entry, "=")
		switch upper := strings.ToUpper(name); {
		case upper == "PATH", upper == "HOME", upper == "LANG", strings.HasSuffix(upper, "_PROXY"), strings.HasPrefix(upper, "DOCKER_"):
			kept = append(kept, entry)
		}
	}
	return kept
}
