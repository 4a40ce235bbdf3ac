package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// finder is a program for a host: it reads patterns in base64, a line each,
// and prints mode, number of the pattern and path of each file that holds one.
// What it looks through is everything that a host keeps, and what it printed.
const finder = `import base64, os, sys
patterns = [base64.b64decode(line) for line in sys.stdin.buffer]
for top in ("/etc", "/var", "/run", "/root", "/home", "/tmp", "/opt", "/srv", "/usr/local", "/dev/shm"):
    for folder, folders, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if not os.path.isfile(path) or os.path.islink(path) or os.path.getsize(path) > 256 << 20:
                    continue
                with open(path, "rb") as file:
                    content = file.read()
            except OSError:
                continue
            for number, pattern in enumerate(patterns):
                if pattern in content:
                    print("%o %d %s" % (os.stat(path).st_mode & 0o777, number, path))
`

// secret is one that must not lie open, in the forms in which it could.
type secret struct {
	name  string
	forms []string
}

func (l *life) secrets(t *testing.T, c *cluster.Cluster) {
	if l.watcher == nil {
		t.Skip("the cluster was not built by this call")
	}
	wantHidden(t, c, l.watcher, secretsOf(t, c), cluster.Controller, "gpu1", "gpu2")
}

// wantHidden looks for secrets wherever they must not be: in command lines while
// the cluster was built, in what Pulumi keeps and printed, and on hosts.
func wantHidden(t *testing.T, c *cluster.Cluster, w *watcher, all []secret, hosts ...string) {
	t.Helper()
	for _, s := range all {
		for _, form := range s.forms {
			if line := w.holding(form); line != "" {
				t.Errorf("the %s stood in a command line: %s", s.name, strings.ReplaceAll(line, form, "***"))
			}
		}
	}
	if len(w.seen) < 100 {
		t.Errorf("only %d command lines were seen while the cluster was built", len(w.seen))
	}
	// The state with its passphrase, what every run printed, the checkout's
	// working files, and what runs leave in the folder for temporary files.
	for _, dir := range []string{c.State, c.Logs, filepath.Join(c.Checkout.Root, ".state", "work"), os.TempDir()} {
		searchFolder(t, dir, w.since, all)
	}
	kept := false
	for _, host := range hosts {
		kept = searchHost(t, c, host, all) || kept
	}
	if !kept {
		t.Error("no host holds any of the secrets: the search finds nothing at all")
	}
}

// secretsOf reads the secrets from where they have to be.
func secretsOf(t *testing.T, c *cluster.Cluster) []secret {
	t.Helper()
	encoded := c.On(t, cluster.Controller, "base64 -w0 /etc/munge/munge.key")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) < 32 {
		t.Fatalf("reading the MUNGE key: %d bytes, %v", len(raw), err)
	}
	password := c.On(t, cluster.Controller, "sed -n 's/^StoragePass=//p' /etc/slurm/slurmdbd.conf")
	if len(password) < 16 {
		t.Fatalf("the database password has %d characters", len(password))
	}
	private := strings.Split(strings.TrimSpace(c.Output(t, "sshPrivateKey")), "\n")
	if len(private) < 3 || !strings.Contains(private[0], "PRIVATE KEY") {
		t.Fatalf("the stack's private key has %d lines", len(private))
	}
	return []secret{
		{"MUNGE key", []string{encoded[:40], string(raw[:32])}},
		{"database password", []string{password}},
		// The first line of the body is the same in every key of its kind.
		{"private key", []string{private[len(private)-2]}},
	}
}

// largest bounds the files that are searched; none of ours comes near it.
const largest = 64 << 20

// searchFolder looks through the files written since a time.
func searchFolder(t *testing.T, dir string, since time.Time, all []secret) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // gone meanwhile, or nothing that holds text
		}
		if info, err := entry.Info(); err != nil || info.ModTime().Before(since) || info.Size() > largest {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, s := range all {
			for _, form := range s.forms {
				if bytes.Contains(content, []byte(form)) {
					t.Errorf("the %s stands in the clear in %s", s.name, path)
				}
			}
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// searchHost reports files that others than their owner may read and what the
// journal says, and whether the host holds a secret at all.
func searchHost(t *testing.T, c *cluster.Cluster, host string, all []secret) bool {
	t.Helper()
	var patterns strings.Builder
	var names []string
	for _, s := range all {
		for _, form := range s.forms {
			fmt.Fprintln(&patterns, base64.StdEncoding.EncodeToString([]byte(form)))
			names = append(names, s.name)
		}
	}
	command := exec.Command("docker", "exec", "-i", c.Container(host), "python3", "-c", finder)
	command.Stdin = strings.NewReader(patterns.String())
	out, err := command.Output()
	if err != nil {
		t.Fatalf("searching %s: %v", host, err)
	}
	for line := range strings.Lines(string(out)) {
		var (
			mode   os.FileMode
			number int
			path   string
		)
		if _, err := fmt.Sscanf(line, "%o %d %s", &mode, &number, &path); err != nil {
			t.Fatalf("reading %q: %v", line, err)
		}
		if mode&0o077 != 0 {
			t.Errorf("%s: the %s stands in %s with mode %04o", host, names[number], path, mode)
		}
		if strings.Contains(path, "/journal/") || strings.HasSuffix(path, ".log") {
			t.Errorf("%s: the %s is logged in %s", host, names[number], path)
		}
	}
	return len(out) > 0
}
