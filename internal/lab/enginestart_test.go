package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// namespaceEnv tells the test binary that it runs in namespaces of its own.
const namespaceEnv = "GPUCLUSTER_LAB_TEST_NAMESPACE"

// TestEngineIsStarted runs the test below where no engine can be seen: in its own mount,
// network and process namespaces, with nothing of the machine's engine in sight. Whatever
// it starts there dies with the namespace.
func TestEngineIsStarted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Docker engine; not in -short")
	}
	for _, program := range []string{"dockerd", "docker", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s", program)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root to start a Docker engine")
	}
	// The shell stays as PID 1: somebody must reap the engine's children.
	hide := `mount --make-rprivate / && for d in /run /var/lib/docker; do mkdir -p $d && mount -t tmpfs none $d || exit; done; ip link set lo up; "$0" "$@"; exit $?`
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child",
		"sh", "-c", hide, os.Args[0], "-test.run=^TestEngineStartInItsNamespace$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), namespaceEnv+"=1", StateDirEnv+"="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestEngineStartInItsNamespace") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func TestEngineStartInItsNamespace(t *testing.T) {
	if os.Getenv(namespaceEnv) == "" {
		t.Skip("is run by TestEngineIsStarted in namespaces of its own")
	}
	type answer struct {
		engine *Engine
		err    error
	}
	answers := make(chan answer, 2)
	for range 2 {
		go func() {
			e, err := EnsureEngine(t.Context(), os.Stderr)
			answers <- answer{e, err}
		}()
	}
	started := 0
	var engine *Engine
	for range 2 {
		a := <-answers
		if a.err != nil {
			t.Fatal(a.err)
		}
		engine = a.engine
		if engine.Info().Started {
			started++
		}
		if engine.Info().Version == "" || engine.Info().CgroupVersion == "" {
			t.Errorf("the engine says of itself %+v", engine.Info())
		}
	}
	if started != 1 {
		t.Errorf("the engine was started %d times by two runs", started)
	}

	pid := enginePID(t, engine)
	if sid, err := sessionOf(pid); err != nil || sid != pid {
		t.Errorf("the engine is in session %d, %v; it must lead its own", sid, err)
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || strings.Contains(string(environ), namespaceEnv) || !strings.Contains(string(environ), "PATH=") {
		t.Errorf("the engine has the environment %q, %v", environ, err)
	}
	if e, err := EnsureEngine(t.Context(), nil); err != nil || e.Info().Started {
		t.Errorf("a running engine was started again: %v", err)
	}

	// After a crash, with its pid file still there, it comes back.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	// The machine was rebooted meanwhile, and the number is somebody else's now.
	if err := os.WriteFile(filepath.Join(string(engine.state), "engine", "dockerd.pid"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e, err := EnsureEngine(t.Context(), os.Stderr); err != nil || !e.Info().Started {
		log, _ := os.ReadFile(filepath.Join(string(engine.state), "engine", "dockerd.log"))
		t.Errorf("a crashed engine did not come back: %v\n%s", err, log)
	}
}

func enginePID(t *testing.T, e *Engine) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(e.state), "engine", "dockerd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func sessionOf(pid int) (int, error) {
	sid, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sid), nil
}

func TestEngineErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]struct {
		path, host string
		want       string
	}{
		"no docker":          {path: dir, want: "apt-get install docker.io"},
		"an engine far away": {path: os.Getenv("PATH"), host: "unix://" + dir + "/none.sock", want: "unset DOCKER_HOST"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.host != "" {
				if _, err := exec.LookPath("docker"); err != nil {
					t.Skip("needs the docker command")
				}
				t.Setenv("DOCKER_HOST", c.host)
			}
			t.Setenv("PATH", c.path)
			_, err := EnsureEngine(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
