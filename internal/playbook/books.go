package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"sort"

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
		roles, _, err := b.uses()
		if err != nil {
			panic(err) // the tree is part of the program
		}
		for _, use := range roles {
			addTree(files, path.Join("roles", use.role))
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

// addTree adds every file below a folder of the tree.
func addTree(files map[string]bool, folder string) {
	_ = fs.WalkDir(ansible.FS, folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = true
		}
		return err
	})
}
