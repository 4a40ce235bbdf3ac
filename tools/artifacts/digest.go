package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// recipe goes up when this program makes something else of the same pins.
const recipe = "1"

// digests say what a store is to hold.
type digests struct {
	// all is of everything.
	all string
	// programs are of each program by its name.
	programs map[string]string
}

// programFile is where a store keeps a program.
func (d digests) programFile(store, name string) string {
	return filepath.Join(store, "programs", name+"-"+d.programs[name])
}

// digests reads the pins and sources of each set: they, the Go version and the table decide.
func (b *builder) digests() (digests, error) {
	d := digests{programs: map[string]string{}}
	sets := map[string]string{}
	set := func(name, pins string) (string, error) {
		key := strings.Trim(name+" "+pins, " ")
		if sets[key] == "" {
			sum, err := setDigest(filepath.Join(b.tools, name), cmp.Or(pins, "go"))
			if err != nil {
				return "", err
			}
			sets[key] = sum
		}
		return sets[key], nil
	}
	for _, p := range b.table.Programs {
		pins, err := set(p.Set, p.Pins)
		if err != nil {
			return digests{}, err
		}
		d.programs[p.Name] = digestOf(pins, p.Package, linkFlags(p), runtime.Version(), runtime.GOARCH)
	}
	for _, c := range b.table.Charts {
		if _, err := set(c.Set, ""); err != nil {
			return digests{}, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return digests{}, fmt.Errorf("finding this program: %w", err)
	}
	own, err := fileDigest(self)
	if err != nil {
		return digests{}, err
	}
	libraries, err := b.netTablesDigest()
	if err != nil {
		return digests{}, err
	}
	// This program is in the store too.
	d.all = digestOf(recipe, own, b.table.Images, b.table.Binaries, b.table.Charts, sets, d.programs, libraries)
	return d, nil
}

// setDigest is of what decides what comes out of a tool set with those pins.
func setDigest(folder, pins string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", fmt.Errorf("reading a tool set: %w", err)
	}
	sums := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		source := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if e.IsDir() || !source && name != pins+".mod" && name != pins+".sum" {
			continue
		}
		if sums[name], err = fileDigest(filepath.Join(folder, name)); err != nil {
			return "", err
		}
	}
	if sums[pins+".mod"] == "" {
		return "", fmt.Errorf("reading a tool set: %s has no %s.mod", folder, pins)
	}
	return digestOf(sums), nil
}

// netTablesDigest is of nft and its libraries, where an image has them.
func (b *builder) netTablesDigest() (string, error) {
	if !slices.ContainsFunc(b.table.Images, func(i artifacts.Image) bool { return i.NetTables }) {
		return "", nil
	}
	files, err := netTables()
	if err != nil {
		return "", err
	}
	var sums []string
	for _, f := range files {
		sum, err := fileDigest(f)
		if err != nil {
			return "", err
		}
		sums = append(sums, f, sum)
	}
	return digestOf(sums), nil
}

// digestOf is short enough for a name, and differs where values differ.
func digestOf(values ...any) string {
	text, err := json.Marshal(values) // sorts maps
	if err != nil {
		panic(err) // only plain values come here
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// fileDigest is the SHA-256 of a file, in hex.
func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
