package playbook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"

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
	folders := []string{"collections"}
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
			folders = append(folders, path.Join("roles", use.role))
		}
	}
	return digestOf(append(folders, keys(files)...)...)
}

// digestOf is a short digest of files of the tree, and of all files below
// folders of it.
func digestOf(names ...string) string {
	files := map[string]bool{}
	for _, n := range names {
		addTree(files, n)
	}
	sum := sha256.New()
	for _, n := range keys(files) {
		text, err := fs.ReadFile(ansible.FS, n)
		if err != nil {
			panic(err) // the tree is part of the program
		}
		fmt.Fprintf(sum, "%s\x00%d\x00", n, len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// addTree adds a file of the tree, or every file below a folder of it.
func addTree(files map[string]bool, name string) {
	_ = fs.WalkDir(ansible.FS, name, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = true
		}
		return err
	})
}
