// Package docs holds the documentation. Its test keeps it in one piece.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// pages lists every Markdown file of the checkout that is documentation for
// people, by its path from this folder.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." || entry.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			all = append(all, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestEveryPageIsListed checks that each page here is in the list of pages.
func TestEveryPageIsListed(t *testing.T) {
	list := read(t, "README.md")
	found, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range found {
		if page != "README.md" && !strings.Contains(list, "("+page+")") {
			t.Errorf("docs/README.md does not list %s", page)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile("(?m)^#+ (.+)$")
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	code    = regexp.MustCompile("`[^`\n]*`")
)

// prose is a page without its code, in which a link would be none.
func prose(text string) string { return code.ReplaceAllString(fence.ReplaceAllString(text, ""), "") }

// TestLinksResolve checks every relative link, and every heading that one
// leads to.
func TestLinksResolve(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			checked++
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", page, match[1])
				continue
			}
			if anchor != "" && !anchors(read(t, file))[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, match[1])
			}
		}
	}
	if checked == 0 {
		t.Error("no link was found")
	}
}

// anchors are the names that headings of a page can be linked to by.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		var name strings.Builder
		for _, r := range strings.ToLower(match[1]) {
			switch {
			case r == ' ':
				name.WriteByte('-')
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
				name.WriteRune(r)
			}
		}
		names[name.String()] = true
	}
	return names
}

// TestGoInThePages checks that Go code in a page is a part of an example, which
// is compiled and run.
func TestGoInThePages(t *testing.T) {
	examples, err := filepath.Glob("../examples/*/main.go")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples", err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```")
	for _, page := range pages(t) {
		for _, block := range blocks.FindAllStringSubmatch(read(t, page), -1) {
			if !slices.ContainsFunc(examples, func(file string) bool { return strings.Contains(read(t, file), block[1]) }) {
				t.Errorf("%s: no example holds this code:\n%s", page, block[1])
			}
		}
	}
}

// TestNamesInThePages checks that pages tell of every step, and name things as
// the code does.
func TestNamesInThePages(t *testing.T) {
	architecture, slurm := read(t, "architecture.md"), read(t, "slurm.md")
	for _, name := range steps.All().Names() {
		if !strings.Contains(architecture, "`"+name+"`") {
			t.Errorf("architecture.md does not tell of the step %s", name)
		}
	}
	for _, reason := range []string{slurmctl.ReasonLeave, slurmctl.ReasonReshape, slurmctl.ReasonQuarantine} {
		if !strings.Contains(slurm, "`"+strings.TrimSuffix(reason, " ")) {
			t.Errorf("slurm.md does not tell of drains for %q", reason)
		}
	}
	for _, name := range []string{hoststep.OverrideVariable, slurmctl.ClosureName("<host>")} {
		if !strings.Contains(slurm, name) {
			t.Errorf("slurm.md does not tell of %s", name)
		}
	}
	for _, version := range slurmconf.Supported {
		if !strings.Contains(read(t, "slurm-files.md"), version.String()) {
			t.Errorf("slurm-files.md does not tell of %s", version)
		}
	}
}

// TestDependenciesAreExplained checks that each module that the toolkit or a
// program of ours in tools/ uses directly has its reason in architecture.md, and
// that no other has.
func TestDependenciesAreExplained(t *testing.T) {
	used := map[string]bool{}
	ours, err := filepath.Glob("../tools/*/main.go")
	if err != nil || len(ours) == 0 {
		t.Fatalf("no program of ours was found in tools/: %v", err)
	}
	for _, program := range append(ours, "../main.go") {
		file := filepath.Join(filepath.Dir(program), "go.mod")
		for _, match := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(read(t, file), -1) {
			used[match[1]] = match[1] != "github.com/gpucluster/pulumi-gpucluster"
		}
	}
	if len(used) == 0 {
		t.Fatal("no module was found in go.mod")
	}
	told := map[string]bool{}
	_, section, _ := strings.Cut(read(t, "architecture.md"), "## Dependencies")
	for _, match := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\|").FindAllStringSubmatch(section, -1) {
		told[match[1]] = true
	}
	for module, direct := range used {
		if direct && !told[module] {
			t.Errorf("architecture.md gives no reason for %s", module)
		}
	}
	for module := range told {
		if !used[module] {
			t.Errorf("architecture.md gives a reason for %s, which is not used directly", module)
		}
	}
}

// TestPagesAreFinished checks that no page is left half written.
func TestPagesAreFinished(t *testing.T) {
	unfinished := regexp.MustCompile(`\b(TODO|FIXME|TBD|XXX)\b`)
	for _, page := range pages(t) {
		text := read(t, page)
		if found := unfinished.FindString(prose(text)); found != "" {
			t.Errorf("%s says %s", page, found)
		}
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not begin with its title", page)
		}
		if strings.Count(text, "\n```")%2 != 0 {
			t.Errorf("%s has a code block without an end", page)
		}
	}
}
