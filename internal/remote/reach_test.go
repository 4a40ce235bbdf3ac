package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestWhoIsGone checks, with real daemons, that only a host at whose address
// nobody is counts as gone: the others may be at work.
func TestWhoIsGone(t *testing.T) {
	d, other := startDaemon(t), startDaemon(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // as a host that hangs
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	quiet := silent.Addr().(*net.TCPAddr).Port
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()

	at := func(change func(*Target)) Target {
		target := d.target("n1")
		change(&target)
		return target
	}
	through := func(bastion daemon, port int, change func(*Target)) Target {
		return at(func(t *Target) {
			t.Port = port
			t.Bastion, t.HostKeys = fmt.Sprintf("root@127.0.0.1:%d", bastion.port), append(t.HostKeys, bastion.line())
			change(t)
		})
	}
	same := func(*Target) {}
	for name, c := range map[string]struct {
		target Target
		key    string
		gone   bool
		want   string
	}{
		"nobody speaks":                    {at(func(t *Target) { t.Port = quiet }), d.private, true, "n1: cannot be reached over SSH"},
		"no such name":                     {at(func(t *Target) { t.Address = "n1.invalid" }), d.private, true, "cannot be reached"},
		"no daemon":                        {at(func(t *Target) { t.Port = closed }), d.private, false, "Connection refused"},
		"another key logs in":              {d.target("n1"), other.private, false, "n1: no login over SSH (load the key that logs in, or correct user or host key; certificates are used through an agent): root@127.0.0.1: Permission denied"},
		"another host key":                 {at(func(t *Target) { t.HostKeys = []string{other.hostKey} }), d.private, false, "no login over SSH"},
		"no host key":                      {at(func(t *Target) { t.HostKeys = nil }), d.private, false, "no login over SSH"},
		"the bastion is away":              {through(daemon{port: closed, hostKey: d.hostKey}, d.port, same), d.private, false, "cannot be reached over SSH through root@"},
		"the bastion hangs":                {through(daemon{port: quiet, hostKey: d.hostKey}, d.port, same), d.private, false, "cannot be reached over SSH through root@"},
		"the bastion refuses":              {through(other, d.port, same), d.private, false, "no login over SSH through root@"},
		"nobody speaks behind the bastion": {through(d, quiet, same), d.private, true, "cannot be reached"},
		"no daemon behind the bastion":     {through(d, closed, same), d.private, false, "Connection refused"},
		"no such name behind the bastion":  {through(d, d.port, func(t *Target) { t.Address = "n1.invalid" }), d.private, true, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, Config{Targets: []Target{c.target}, PrivateKey: c.key, ConnectTimeout: time.Second})
			_, err := s.Run(t.Context(), "n1", "true", nil)
			if !IsUnreachable(err) || IsGone(err) != c.gone || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("gone %v, want %v, and %q in %v", IsGone(err), c.gone, c.want, err)
			}
			there, err := s.There(t.Context(), "n1")
			if there || (err == nil) != c.gone {
				t.Errorf("there: %v, %v", there, err)
			}
		})
	}
}

// beginLogin begins a login that does not go on. The daemon's greeting says that
// it is under way; one that came before and is ending may stand in its way.
func (d daemon) beginLogin(t *testing.T) net.Conn {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", d.port))
		if err != nil {
			t.Fatal(err)
		}
		greeting := make([]byte, len("SSH-2.0-"))
		if _, err = io.ReadFull(c, greeting); err == nil && string(greeting) == "SSH-2.0-" {
			return c
		}
		_ = c.Close()
		if time.Now().After(end) {
			t.Fatalf("the daemon says %q, %v", greeting, err)
		}
	}
}

// TestABusyDaemonIsTriedAgain checks that a host whose daemon has too many
// logins under way is not taken for one that is away.
func TestABusyDaemonIsTriedAgain(t *testing.T) {
	d := startDaemonWith(t, "MaxStartups 1:100:1")
	hold := d.beginLogin(t)
	defer hold.Close()
	s := open(t, Config{Targets: []Target{d.target("n1")}, PrivateKey: d.private})
	target, _ := s.Target("n1")
	var sentAway *CommandError
	if _, err := s.once(t.Context(), target, true, "true", nil); !errors.As(err, &sentAway) || !isBusy(sentAway.Stderr) || sentAway.Gone {
		t.Errorf("the daemon is not busy: %v", err)
	}
	time.AfterFunc(1500*time.Millisecond, func() { _ = hold.Close() })
	if out, err := s.Run(t.Context(), "n1", "cat", []byte("once")); err != nil || out != "once" {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestManySessionsAtOnce checks that a daemon which takes few logins at a time
// serves as many sessions as the probes of one run open.
func TestManySessionsAtOnce(t *testing.T) {
	d := startDaemonWith(t, "MaxStartups 4:100:4")
	var group sync.WaitGroup
	for range 16 {
		s := open(t, Config{Targets: []Target{d.target("n1")}, PrivateKey: d.private})
		group.Add(1)
		go func() {
			defer group.Done()
			if _, err := s.Run(t.Context(), "n1", "true", nil); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
}
