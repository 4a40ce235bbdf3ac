package slurmconf

import (
	"fmt"
	"strings"
)

// Placement is a kind of host that holds a copy of a file.
type Placement string

// Where files live.
const (
	OnControllers Placement = "controllers"
	OnDatabase    Placement = "database"
	OnCompute     Placement = "compute"
	OnLogin       Placement = "login"
)

// File is one rendered file.
type File struct {
	// Name within the config directory, for example "slurm.conf".
	Name string
	// Content is the whole text, ending in a newline.
	Content string
	// Mode is the octal permission, for example "0644".
	Mode string
	// Owner is "root" or the slurm user.
	Owner string
	// On lists the hosts that hold a copy. Others fetch it from slurmctld
	// where Pushed says so.
	On []Placement
	// Pushed tells whether slurmctld hands the file to slurmd and sackd.
	Pushed bool
}

// FileSet is what a cluster reads, in a fixed order.
type FileSet struct {
	// ConfigDir is the directory of all files.
	ConfigDir string
	// Version of Slurm that the set is for.
	Version Version
	Files   []File
}

// Get returns the file of that name.
func (s FileSet) Get(name string) (File, bool) {
	for _, f := range s.Files {
		if f.Name == name {
			return f, true
		}
	}
	return File{}, false
}

// Content returns the text of the file of that name, empty if there is none.
func (s FileSet) Content(name string) string {
	f, _ := s.Get(name)
	return f.Content
}

// For returns the files that a kind of host holds a copy of.
func (s FileSet) For(on Placement) []File {
	var out []File
	for _, f := range s.Files {
		for _, p := range f.On {
			if p == on {
				out = append(out, f)
			}
		}
	}
	return out
}

// Map returns name to content, for printing and comparing.
func (s FileSet) Map() map[string]string {
	m := make(map[string]string, len(s.Files))
	for _, f := range s.Files {
		m[f.Name] = f.Content
	}
	return m
}

const ours = "written by gpucluster"

// header is the first comment of every file. It has no time in it.
func header(name string) string {
	return fmt.Sprintf("# %s: %s. The next run replaces it: change the environment file.", name, ours)
}

// IsOurs tells whether a file's content carries our header. A file without it
// belongs to somebody else and is not overwritten.
func IsOurs(content string) bool {
	for i, line := range strings.SplitN(content, "\n", 3) {
		if i < 2 && strings.HasPrefix(line, "# ") && strings.Contains(line, ": "+ours+".") {
			return true
		}
	}
	return false
}
