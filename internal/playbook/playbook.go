package playbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/ansible"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// Request says what one run of a playbook is given.
type Request struct {
	// Groups maps a group of the playbook to names of session targets. A
	// group that is left out is empty.
	Groups map[string][]string
	// Vars is encoded as a JSON object: the variables that the playbook's
	// roles declare. No secrets.
	Vars any
	// SecretVars is like Vars, for secrets. They reach roles only through
	// variables that are used under no_log.
	SecretVars any
	// Check reports what would change and changes nothing.
	Check bool
	// Progress takes a line for each change and failure. May be nil.
	Progress io.Writer
	// Limit bounds the run. Default [DefaultLimit].
	Limit time.Duration
}

// DefaultLimit is several times what the longest run takes, the installation of
// all packages from a slow mirror. What takes longer hangs, as on a file system
// whose server is away.
const DefaultLimit = 30 * time.Minute

// loginLimit bounds the login to each host before the run, repeated attempts at
// a busy daemon included.
const loginLimit = 2 * time.Minute

// Run runs a playbook and waits for its end. The result holds every host of
// the request. The error is an [*Error] when hosts failed, one that hangs beyond
// the limit included; hosts that it does not name are done. When ctx ends,
// ansible-playbook is ended too, and the error is another.
func Run(ctx context.Context, session *remote.Session, book Playbook, request Request) (Result, error) {
	w, err := prepare(session, book, request)
	if err != nil {
		return Result{}, fmt.Errorf("preparing playbook %s: %w", book, err)
	}
	defer w.discard()

	collected := newCollector(w.hosts, request.Progress)
	there := logIn(ctx, session, w.hosts, collected)
	if len(there) == 0 && ctx.Err() == nil {
		return collected.result, &Error{Playbook: book, Failures: collected.result.failures()}
	}
	limit := request.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, w.program, append(w.arguments, "--limit", strings.Join(there, ","))...)
	cmd.Dir, cmd.Env = w.dir, w.environment
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = collected, &stderr
	endWithGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	collected.flush()

	result := collected.result
	if ctx.Err() != nil {
		return result, fmt.Errorf("running playbook %s: %w", book, context.Cause(ctx))
	}
	if limited.Err() != nil {
		collected.hangs(limit)
	}
	if failures := result.failures(); len(failures) > 0 {
		return result, &Error{Playbook: book, Failures: failures}
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return result, fmt.Errorf("running playbook %s: %w: %s", book, err, complaint(stderr.String()+"\n"+collected.unknown()))
	}
	return result, nil
}

// logIn makes the shared connections that Ansible uses, so that a daemon that is
// busy is tried again, and lists the hosts that can be given commands. The others
// have failed.
func logIn(ctx context.Context, session *remote.Session, hosts []string, c *collector) []string {
	var there []string
	answers := session.Probe(ctx, hosts, "true", loginLimit)
	for _, host := range hosts {
		if err := answers[host].Err; remote.IsUnreachable(err) {
			c.fail(Failure{Host: host, Task: "Log in", Message: strings.TrimPrefix(err.Error(), host+": "), Unreachable: true})
			continue
		}
		there = append(there, host) // what else is wrong, Ansible will tell
	}
	return there
}

// work is one prepared run.
type work struct {
	dir         string
	program     string
	arguments   []string
	environment []string
	hosts       []string
}

// discard removes the run's files.
func (w *work) discard() { _ = os.RemoveAll(w.dir) }

// prepare writes everything that ansible-playbook reads.
func prepare(session *remote.Session, book Playbook, request Request) (*work, error) {
	if !book.known() {
		return nil, fmt.Errorf("there is no playbook %q", book)
	}
	program, err := exec.LookPath("ansible-playbook")
	if err != nil {
		return nil, fmt.Errorf("the ansible-playbook program is missing (Debian: apt-get install ansible-core): %w", err)
	}
	vars, err := encode(book, request)
	if err != nil {
		return nil, err
	}
	inventory, hosts, err := inventory(session, request.Groups)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(session.Dir(), "play-")
	if err != nil {
		return nil, err
	}
	w := &work{dir: dir, program: program, hosts: hosts}
	if err := w.write(session, inventory, vars, book, request.Check); err != nil {
		w.discard()
		return nil, err
	}
	return w, nil
}

// encode turns the request's variables into the files that hold them, having
// checked them against what the playbook's roles declare.
func encode(book Playbook, request Request) (map[string][]byte, error) {
	files := map[string][]byte{}
	all := map[string]any{}
	for name, given := range map[string]any{"vars.json": request.Vars, "secrets.json": request.SecretVars} {
		text, err := json.Marshal(given)
		if err != nil {
			return nil, fmt.Errorf("encoding variables: %w", err)
		}
		if string(text) == "null" {
			continue
		}
		own := map[string]any{}
		if err := json.Unmarshal(text, &own); err != nil {
			return nil, fmt.Errorf("variables must be an object: %w", err)
		}
		maps.Copy(all, own)
		if files[name], err = json.Marshal(literal(own)); err != nil {
			return nil, fmt.Errorf("encoding variables: %w", err)
		}
	}
	return files, book.check(all)
}

// literal returns a value in which every text that Ansible would take for a
// template is marked as none: what a run is given never is one.
func literal(value any) any {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "{{") || strings.Contains(v, "{%") || strings.Contains(v, "{#") {
			return map[string]any{"__ansible_unsafe": v}
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = literal(v[i])
		}
		return list
	case map[string]any:
		marked := make(map[string]any, len(v))
		for k := range v {
			marked[k] = literal(v[k])
		}
		return marked
	}
	return value
}

// write fills the run's directory and its command line.
func (w *work) write(session *remote.Session, inventory []byte, vars map[string][]byte, book Playbook, check bool) error {
	if err := unpack(w.dir); err != nil {
		return err
	}
	files := map[string][]byte{
		"ansible.cfg":    []byte(settings(session.ConfigFile(), len(w.hosts))),
		"inventory.json": inventory,
	}
	w.arguments = []string{"-i", "inventory.json"}
	for _, name := range keys(vars) {
		files[name] = vars[name]
		w.arguments = append(w.arguments, "-e", "@"+name)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	if check {
		w.arguments = append(w.arguments, "--check")
	}
	w.arguments = append(w.arguments, filepath.Join("playbooks", string(book)+".yml"))
	w.environment = environment(w.dir)
	return nil
}

// unpack writes the embedded tree below dir.
func unpack(dir string) error {
	return fs.WalkDir(ansible.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		text, err := fs.ReadFile(ansible.FS, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}
