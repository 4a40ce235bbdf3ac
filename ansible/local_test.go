package ansible

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// task is one call of a module and what it must answer.
type task struct {
	name   string
	module string
	args   map[string]any
	check  bool // check mode

	want    string // ok, changed or failed
	changes []string
	says    []string // parts of a failure's message
	silent  string   // what it does not say
}

// outcome is a line of the gpucluster_events callback.
type outcome struct {
	Event, Status, Task, Message string
	Changes                      []string
}

// runLocally runs tasks on this machine through Ansible, in order, and compares
// their answers. before and after are called with the task's number.
func runLocally(t *testing.T, tasks []task) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Ansible; not in -short")
	}
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("needs ansible-playbook (Debian: ansible-core)")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, FS); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	for _, k := range tasks {
		one := map[string]any{"name": k.name, k.module: k.args, "ignore_errors": true}
		if k.check {
			one["check_mode"] = true
		}
		list = append(list, one)
	}
	book, err := json.Marshal([]map[string]any{{"name": "Local", "hosts": "localhost", "connection": "local", "gather_facts": false, "tasks": list}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "book.yml", string(book))
	write(t, dir, "ansible.cfg", "[defaults]\ncollections_path = collections\ncallback_plugins = plugins/callback\nstdout_callback = gpucluster_events\nlocal_tmp = tmp\nno_target_syslog = True\n")
	cmd := exec.Command("ansible-playbook", "-i", "localhost,", "-e", "ansible_python_interpreter=/usr/bin/python3", "-e", "ansible_remote_tmp="+dir+"/remote", "book.yml")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+dir+"/ansible.cfg", "ANSIBLE_HOME="+dir+"/home", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []outcome
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o outcome
		if json.Unmarshal(lines.Bytes(), &o) == nil && o.Event == "result" {
			got = append(got, o)
		}
	}
	if len(got) != len(tasks) {
		t.Fatalf("%d tasks gave %d answers\n%s", len(tasks), len(got), out)
	}
	for i, k := range tasks {
		status := strings.Replace(got[i].Status, "ignored", "failed", 1)
		if status != k.want {
			t.Errorf("%s: %s (%s), want %s", k.name, status, got[i].Message, k.want)
		}
		if k.changes != nil && strings.Join(got[i].Changes, "|") != strings.Join(k.changes, "|") {
			t.Errorf("%s: changed %q, want %q", k.name, got[i].Changes, k.changes)
		}
		if k.silent != "" && strings.Contains(got[i].Message, k.silent) {
			t.Errorf("%s: the message has %q: %s", k.name, k.silent, got[i].Message)
		}
		for _, part := range k.says {
			if !strings.Contains(got[i].Message, part) {
				t.Errorf("%s: the message lacks %q: %s", k.name, part, got[i].Message)
			}
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPlaceFiles(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: files get owners")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const mark = "# written by gpucluster\n"
	write(t, dir, "foreign", "theirs\n")
	write(t, dir, "foreign-equal", "theirs\n")
	write(t, dir, "foreign-kept", "theirs\n")
	write(t, dir, "foreign-taken", "theirs\n")
	write(t, dir, "ours", mark+"old\n")
	if err := os.Mkdir(at("tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "tree/stale", mark)
	write(t, dir, "tree/listed", mark)
	write(t, dir, "tree/spared", mark)
	write(t, dir, "tree/foreign", "theirs\n")
	if err := os.Symlink("foreign", at("link")); err != nil {
		t.Fatal(err)
	}
	const module = "gpucluster.host.place_files"
	file := func(name, content string, more ...string) map[string]any {
		m := map[string]any{"path": at(name), "content": content}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	files := func(list ...map[string]any) map[string]any { return map[string]any{"files": list} }
	runLocally(t, []task{
		{name: "several problems at once, nothing written", module: module, want: "failed",
			args: files(file("foreign", "ours\n"), file("link", mark), file("fresh", mark), file("x", mark, "owner", "nobody-of-that-name"), map[string]any{"path": "relative"}),
			says: []string{"foreign: exists and is not ours", "link: exists and is not a plain file", "no user or group nobody-of-that-name", "relative: not an absolute path"}},
		{name: "check mode", module: module, check: true, want: "changed", args: files(file("ours", mark+"new\n"), file("sub/fresh", mark)),
			changes: []string{at("ours") + " (content)", at("sub/fresh") + " (created)"}},
		{name: "place", module: module, want: "changed", args: files(file("ours", mark+"new\n", "mode", "0600"), file("sub/fresh", mark, "owner", "nobody"),
			file("foreign-equal", "theirs\n"), file("foreign-kept", "ours\n", "foreign", "keep"), file("foreign-taken", "b3Vycwo=", "foreign", "replace", "encoding", "base64")),
			changes: []string{at("foreign-taken") + " (content)", at("ours") + " (content, mode)", at("sub/fresh") + " (created)"}},
		{name: "place again", module: module, want: "ok", args: files(file("ours", mark+"new\n", "mode", "0600"), file("sub/fresh", mark, "owner", "nobody"))},
		{name: "only the owner", module: module, want: "changed", args: files(file("sub/fresh", mark)), changes: []string{at("sub/fresh") + " (owner)"}},
		{name: "refused by its check", module: module, want: "failed", args: files(file("ours", mark+"bad\n", "validate", "grep -q good %s || { echo no good in %s >&2; exit 1; }")),
			says: []string{at("ours") + ": refused by its check: no good in " + at("ours")}},
		{name: "passes its check", module: module, want: "changed", args: files(file("ours", mark+"good\n", "validate", "grep -q good %s"))},
		{name: "prune", module: module, want: "changed", args: map[string]any{"files": []map[string]any{file("tree/listed", mark)}, "prune": []string{at("tree"), at("absent")}, "prune_keep": []string{at("tree/spared")}},
			changes: []string{at("tree/stale") + " (removed)"}},
		{name: "remove what is not ours", module: module, want: "failed", args: files(map[string]any{"path": at("foreign"), "state": "absent"}), says: []string{"is not ours"}},
		{name: "remove", module: module, want: "changed", args: files(map[string]any{"path": at("ours"), "state": "absent"}, map[string]any{"path": at("tree"), "state": "absent"},
			map[string]any{"path": at("never"), "state": "absent"}), changes: []string{at("ours") + " (removed)", at("tree") + " (removed)"}},
		{name: "place drop-ins", module: module, want: "changed", args: files(file("x.service.d/one", mark), file("x.service.d/two", mark))},
		{name: "remove one", module: module, want: "changed", args: files(map[string]any{"path": at("x.service.d/one"), "state": "absent"}), changes: []string{at("x.service.d/one") + " (removed)"}},
		{name: "remove the last, and its folder", module: module, want: "changed", args: files(map[string]any{"path": at("x.service.d/two"), "state": "absent"})},
		{name: "a folder", module: module, want: "changed", args: files(map[string]any{"path": at("a/b"), "state": "directory", "mode": "0750", "owner": "nobody"}), changes: []string{at("a/b") + " (created)"}},
		{name: "a folder in the way", module: module, want: "failed", args: files(file("a", mark)), says: []string{"exists and is not a plain file"}},
	})
	for name, want := range map[string]string{"foreign": "theirs\n", "foreign-kept": "theirs\n", "foreign-taken": "ours\n", "foreign-equal": "theirs\n", "sub/fresh": mark} {
		got, err := os.ReadFile(at(name))
		if err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(at("x.service.d")); !os.IsNotExist(err) {
		t.Errorf("an empty folder of drop-ins is left: %v", err)
	}
	if found, err := os.Stat(at("a/b")); err != nil || found.Mode() != fs.ModeDir|0o750 {
		t.Errorf("a/b is %v, %v", found, err)
	}
	if left, _ := filepath.Glob(at(".gpucluster-*")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}
