package playbook_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// world is a lab of two hosts for one test: ctl1 with everything but compute,
// and gpu1 with two simulated GPUs.
type world struct {
	t       *testing.T
	release string
	session *remote.Session
	munge   string
	dbPass  string

	people, stranger lab.KeyPair // keys of people, known and unknown
}

func TestMain(m *testing.M) {
	// Clocks are compared whatever the deployer's time zone.
	if err := os.Setenv("TZ", "Asia/Tokyo"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func newWorld(t *testing.T, release string) *world {
	t.Helper()
	return newWorldOf(t, lab.ImageSpec{Slurm: release}, strings.ReplaceAll(release, ".", ""))
}

// newWorldOf makes a world of that image.
func newWorldOf(t *testing.T, spec lab.ImageSpec, suffix string) *world {
	t.Helper()
	release := spec.Slurm
	gpu1 := lab.HostSpec{Name: "gpu1",
		// On one release the login is not root's.
		SudoUser: release == "26.05",
		Hardware: lab.Hardware{Sockets: 2, CoresPerSocket: 4, ThreadsPerCore: 2, MemoryMiB: 65536, GPUs: []lab.GPUs{{Count: 2}}},
	}
	made := labtest.New(t, "pb"+suffix, spec,
		lab.HostSpec{Name: "ctl1", Hardware: lab.Hardware{Sockets: 1, CoresPerSocket: 2, ThreadsPerCore: 1, MemoryMiB: 4096}}, gpu1)
	w := &world{t: t, release: release, dbPass: secret(t)}
	var err error
	for _, pair := range []*lab.KeyPair{&w.people, &w.stranger} {
		if *pair, err = lab.GenerateKey(); err != nil {
			t.Fatal(err)
		}
	}
	var targets []remote.Target
	for _, host := range made.Hosts {
		targets = append(targets, labtest.Target(host))
	}
	if gpu1.SudoUser {
		targets[1].User = "ops"
	}
	w.session, err = remote.Open(t.Context(), remote.Config{Targets: targets, PrivateKey: made.Key.Private})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.session.Close() })
	raw := make([]byte, 128)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	w.munge = base64.StdEncoding.EncodeToString(raw)
	return w
}

func secret(t *testing.T) string {
	t.Helper()
	raw := make([]byte, 12)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	return `ca'n"a\ry` + base64.RawURLEncoding.EncodeToString(raw)
}

// dbPlain is a password that can stand in slurmdbd.conf.
func (w *world) dbPlain() string { return "plain-" + w.munge[100:116] }

type vars map[string]any

func (w *world) run(book playbook.Playbook, groups map[string][]string, v, secrets vars) (playbook.Result, error) {
	w.t.Helper()
	begin := time.Now()
	var progress bytes.Buffer
	result, err := playbook.Run(w.t.Context(), w.session, book, playbook.Request{Groups: groups, Vars: v, SecretVars: secrets, Progress: &progress})
	w.t.Logf("%s: %.1f s, %d changes", book, time.Since(begin).Seconds(), result.Changes())
	for _, text := range []string{progress.String(), fmt.Sprint(result), fmt.Sprint(err)} {
		for _, s := range []string{w.munge, w.dbPlain(), w.dbPass} {
			if strings.Contains(text, s) {
				w.t.Errorf("%s: a secret is in what the run tells", book)
			}
		}
	}
	return result, err
}

// twice runs a playbook, wants changes, runs it again and wants none.
func (w *world) twice(book playbook.Playbook, groups map[string][]string, v, secrets vars) {
	w.t.Helper()
	first, err := w.run(book, groups, v, secrets)
	if err != nil {
		w.t.Fatal(err)
	}
	if first.Changes() == 0 {
		w.t.Errorf("%s: the first run changed nothing", book)
	}
	again, err := w.run(book, groups, v, secrets)
	if err != nil {
		w.t.Fatal(err)
	}
	for host, h := range again.Hosts {
		if len(h.Changed) > 0 {
			w.t.Errorf("%s: the second run changed %s: %s", book, host, strings.Join(h.Changed, "; "))
		}
	}
}

// on runs a command on a host and wants its trimmed output.
func (w *world) on(host, command string) string {
	w.t.Helper()
	out, err := w.session.Run(w.t.Context(), host, command, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func (w *world) want(host, command, want string) {
	w.t.Helper()
	if got := w.on(host, command); got != want {
		w.t.Errorf("%s: %s: got %q, want %q", host, command, got, want)
	}
}

// busy is how many times longer things may take than on a machine that does nothing else.
const busy = 3

// await runs a command until it prints what is wanted. The limit is a quiet machine's.
func (w *world) await(host, command, want string, limit time.Duration) {
	w.t.Helper()
	var got string
	for end := time.Now().Add(busy * limit); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		out, _ := w.session.Run(w.t.Context(), host, command, nil)
		if got = strings.TrimSpace(out); got == want {
			return
		}
	}
	w.t.Errorf("%s: %s: still %q after %s, want %q", host, command, got, busy*limit, want)
}
