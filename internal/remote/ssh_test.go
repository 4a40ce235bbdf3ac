package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// daemon is an sshd of this test's own on the loopback address.
type daemon struct {
	port    int
	hostKey string // public
	private string // the client's key
	logFile string
}

// log is what the daemon has written.
func (d daemon) log() string {
	text, _ := os.ReadFile(d.logFile)
	return string(text)
}

// startDaemon runs a real sshd that takes many logins at once, or skips the test
// where that cannot be.
func startDaemon(t *testing.T) daemon {
	t.Helper()
	return startDaemonWith(t, "MaxStartups 100")
}

// startDaemonWith runs a real sshd with one more line of configuration.
func startDaemonWith(t *testing.T, line string) daemon {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			t.Skip("needs sshd (Debian: openssh-server)")
		}
	}
	if os.Getuid() != 0 {
		t.Skip("needs root to run sshd")
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"host", "client"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := daemon{port: listener.Addr().(*net.TCPAddr).Port, hostKey: read(t, dir, "host.pub"), private: read(t, dir, "client")}
	_ = listener.Close()

	// The folder of a test is below a world-writable one, so StrictModes is off.
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/client.pub\nPidFile none\nStrictModes no\nUsePAM no\n"+
		"PermitRootLogin prohibit-password\nPasswordAuthentication no\n%s\n", d.port, dir, dir, line)
	if err := os.WriteFile(filepath.Join(dir, "sshd_config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.logFile = filepath.Join(dir, "log")
	log, err := os.Create(d.logFile)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(dir, "sshd_config"))
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd said:\n%s", d.log())
		}
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", d.port))
		if err == nil {
			_ = c.Close()
			return d
		}
		if time.Now().After(end) {
			t.Fatalf("sshd does not listen: %v", err)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (d daemon) target(name string) Target {
	return Target{Name: name, Address: "127.0.0.1", Port: d.port, User: "root", HostKeys: []string{d.hostKey}}
}

// line is the daemon's key as known_hosts has it.
func (d daemon) line() string { return fmt.Sprintf("[127.0.0.1]:%d %s", d.port, d.hostKey) }

func open(t *testing.T, c Config) *Session {
	t.Helper()
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestRunOverSSH(t *testing.T) {
	d := startDaemon(t)
	s := open(t, Config{Targets: []Target{d.target("n1")}, PrivateKey: d.private})

	input := []byte("a\x00b'\"$HOME\n")
	out, err := s.Run(t.Context(), "n1", `printf '%s|' "it's" "$(id -un)"; cat`, input)
	if err != nil || out != "it's|root|"+string(input) {
		t.Errorf("got %q, %v", out, err)
	}

	cases := map[string]struct {
		command string
		status  int
		stderr  string
	}{
		"status and last words": {"echo before >&2; echo kept; exit 3", 3, "before"},
		"status of ssh's own":   {"exit 255", 254, ""},
		"not there":             {"no-such-program", 127, "not found"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := s.Run(t.Context(), "n1", c.command, nil)
			var failure *CommandError
			if !errors.As(err, &failure) || failure.ExitStatus != c.status || failure.Unreachable || !strings.Contains(failure.Stderr, c.stderr) {
				t.Errorf("got %#v", err)
			}
			_, err = s.Runner("n1").Run(t.Context(), c.command, nil)
			var theirs *shell.ExitError
			if !errors.As(err, &theirs) || theirs.Status != c.status {
				t.Errorf("the runner gives %#v", err)
			}
		})
	}
	if _, err := s.Run(t.Context(), "n2", "true", nil); err == nil || !strings.Contains(err.Error(), "n2: not a target") {
		t.Errorf("an unknown host gives %v", err)
	}
}

func TestEndedContextEndsTheCommand(t *testing.T) {
	d := startDaemon(t)
	s := open(t, Config{Targets: []Target{d.target("n1")}, PrivateKey: d.private})
	if _, err := s.Run(t.Context(), "n1", "true", nil); err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
	begin := time.Now()
	_, err := s.Run(ctx, "n1", "sleep 60", nil)
	if !errors.Is(err, why) || IsUnreachable(err) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestCaseK27 checks that the key of a host is always verified: another one, or an
// unknown one, lets nobody log in, unless the first use is trusted.
func TestCaseK27(t *testing.T) {
	d, other := startDaemon(t), startDaemon(t)
	known := filepath.Join(t.TempDir(), "known_hosts")

	wrong := d.target("n1")
	wrong.HostKeys = []string{other.hostKey}
	none := d.target("n1")
	none.HostKeys = nil
	for name, target := range map[string]Target{"another key": wrong, "no key": none} {
		s := open(t, Config{Targets: []Target{target}, PrivateKey: d.private})
		if _, err := s.Run(t.Context(), "n1", "true", nil); !IsUnreachable(err) || !strings.Contains(err.Error(), "key verification failed") {
			t.Errorf("%s: got %v", name, err)
		}
	}

	none.TrustOnFirstUse = true
	first := open(t, Config{Targets: []Target{none}, PrivateKey: d.private, KnownHostsFile: known})
	if _, err := first.Run(t.Context(), "n1", "true", nil); err != nil {
		t.Fatalf("first use: %v", err)
	}
	if text := read(t, filepath.Dir(known), "known_hosts"); !strings.Contains(text, strings.Fields(d.hostKey)[1]) {
		t.Errorf("the key is not remembered: %q", text)
	}
	// The host shows another key now.
	line := fmt.Sprintf("[127.0.0.1]:%d %s\n", d.port, other.hostKey)
	if err := os.WriteFile(known, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, Config{Targets: []Target{none}, PrivateKey: d.private, KnownHostsFile: known})
	if _, err := again.Run(t.Context(), "n1", "true", nil); !IsUnreachable(err) {
		t.Errorf("a changed key gives %v", err)
	}
}

func TestBastion(t *testing.T) {
	gate, d := startDaemon(t), startDaemon(t)
	target := d.target("n1")
	target.Bastion = fmt.Sprintf("root@127.0.0.1:%d", gate.port)
	target.HostKeys = append(target.HostKeys, gate.line())
	s := open(t, Config{Targets: []Target{target}, PrivateKey: d.private})
	if _, err := s.Run(t.Context(), "n1", "true", nil); !IsUnreachable(err) {
		t.Errorf("the bastion let a strange key in: %v", err)
	}
	target.HostKeys = []string{d.hostKey}
	s = open(t, Config{Targets: []Target{target}, PrivateKey: gate.private})
	if _, err := s.Run(t.Context(), "n1", "true", nil); !IsUnreachable(err) || !strings.Contains(err.Error(), "over SSH through root@127.0.0.1") {
		t.Errorf("a bastion without a known key gives %v", err)
	}
	// The bastion reaches itself by its other name.
	target = gate.target("n1")
	target.Address = "localhost"
	target.Bastion, target.HostKeys = fmt.Sprintf("root@127.0.0.1:%d", gate.port), append(target.HostKeys, gate.line())
	s = open(t, Config{Targets: []Target{target}, PrivateKey: gate.private})
	out, err := s.Run(t.Context(), "n1", "echo through", nil)
	if err != nil || out != "through\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestProbeIsBounded(t *testing.T) {
	d := startDaemon(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().(*net.TCPAddr).Port
	_ = closed.Close()

	dead, hung := d.target("dead"), d.target("hung")
	dead.Port, hung.Port = gone, silent.Addr().(*net.TCPAddr).Port
	s := open(t, Config{Targets: []Target{d.target("n1"), d.target("n2"), dead, hung}, PrivateKey: d.private, ConnectTimeout: 2 * time.Second})
	begin := time.Now()
	answers := s.Probe(t.Context(), s.Hosts(), "echo $0 works\nuname -s", 90*time.Second)
	if took := time.Since(begin); took > 80*time.Second {
		t.Errorf("took %s", took)
	}
	slow := s.Probe(t.Context(), []string{"n1"}, "sleep 100", time.Second)["n1"]
	if slow.Err == nil || IsUnreachable(slow.Err) || !strings.Contains(slow.Err.Error(), "no answer within 1s") {
		t.Errorf("a slow script gives %v", slow.Err)
	}
	for _, h := range []string{"n1", "n2"} {
		if a := answers[h]; a.Err != nil || !strings.HasSuffix(a.Output, "works\nLinux\n") {
			t.Errorf("%s: %q, %v", h, a.Output, a.Err)
		}
	}
	if !IsUnreachable(answers["dead"].Err) {
		t.Errorf("dead: %v", answers["dead"].Err)
	}
	if err := answers["hung"].Err; err == nil {
		t.Errorf("hung: %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	d := startDaemon(t)
	s, err := Open(t.Context(), Config{Targets: []Target{d.target("n1")}, PrivateKey: d.private})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), "n1", "true", nil); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{".": 0o700 | os.ModeDir, "key": 0o600, "ssh_config": 0o600} {
		found, err := os.Stat(filepath.Join(s.Dir(), name))
		if err != nil || found.Mode() != mode {
			t.Errorf("%s has mode %v, %v; want %v", name, found.Mode(), err, mode)
		}
	}
	if _, err := os.Lstat(s.sockets["n1"]); err != nil {
		t.Errorf("the connection is not shared: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	out, _ := exec.Command("ps", "-eo", "args").Output()
	if strings.Contains(string(out), s.Dir()) {
		t.Errorf("a process is left")
	}
}
