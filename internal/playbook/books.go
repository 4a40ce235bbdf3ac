package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/ansible"
)

// Playbook names one playbook of the embedded tree.
type Playbook string

// known reports whether the tree holds the playbook.
func (p Playbook) known() bool {
	_, err := fs.Stat(ansible.FS, p.file())
	return err == nil
}

func (p Playbook) file() string { return path.Join("playbooks", string(p)+".yml") }

// roleOf finds the roles that a playbook or a role's tasks name.
var roleOf = regexp.MustCompile(`(?m)^\s*(?:- role:|- name:|name:)\s*([a-z][a-z0-9_]*)\s*$`)

// Digest is a short digest of what the playbooks do: their own text, the roles
// they use and the modules. A step that carries it in its spec runs again when
// a newer toolkit does something else on hosts. It panics on a playbook that
// does not exist, which only a programming mistake can name.
func Digest(books ...Playbook) string {
	files := map[string]bool{}
	for _, b := range books {
		if !b.known() {
			panic(fmt.Sprintf("playbook: there is no playbook %q", b))
		}
		files[b.file()] = true
		for _, role := range rolesIn(b.file()) {
			addTree(files, path.Join("roles", role))
		}
	}
	addTree(files, "collections")

	names := make([]string, 0, len(files))
	for f := range files {
		names = append(names, f)
	}
	sort.Strings(names)
	sum := sha256.New()
	for _, n := range names {
		text, err := fs.ReadFile(ansible.FS, n)
		if err != nil {
			panic(err) // the tree is part of the program
		}
		fmt.Fprintf(sum, "%s\x00%d\x00", n, len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// rolesIn lists the roles that a playbook uses, and those that they use.
func rolesIn(file string) []string {
	var roles []string
	seen := map[string]bool{}
	queue := []string{file}
	for len(queue) > 0 {
		text, err := fs.ReadFile(ansible.FS, queue[0])
		queue = queue[1:]
		if err != nil {
			continue
		}
		for _, m := range roleOf.FindAllStringSubmatch(string(text), -1) {
			role := m[1]
			if _, err := fs.Stat(ansible.FS, path.Join("roles", role)); err != nil || seen[role] {
				continue
			}
			seen[role] = true
			roles = append(roles, role)
			_ = fs.WalkDir(ansible.FS, path.Join("roles", role), func(name string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.HasSuffix(name, ".yml") {
					queue = append(queue, name)
				}
				return err
			})
		}
	}
	return roles
}

// addTree adds every file below a folder of the tree.
func addTree(files map[string]bool, folder string) {
	_ = fs.WalkDir(ansible.FS, folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = true
		}
		return err
	})
}
