package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// label that the lab puts on everything it makes.
const label = "gpucluster.lab"

// labState is where labs keep their files on this machine, when root runs them.
const labState = "/var/lib/gpucluster/lab"

// Left lists the containers, networks, volumes and files of the lab that still
// exist, a line each.
func (c *Cluster) Left(t testing.TB) string {
	t.Helper()
	var left []string
	for kind, words := range map[string][]string{
		"container": {"ps", "-a", "--format", "{{.Names}}"},
		"network":   {"network", "ls", "--format", "{{.Name}}"},
		"volume":    {"volume", "ls", "--format", "{{.Name}}"},
	} {
		out := c.Docker(t, append(words, "--filter", "label="+label+"="+c.Name)...)
		for name := range strings.FieldsSeq(out) {
			left = append(left, kind+" "+name)
		}
	}
	err := filepath.WalkDir(labState, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(path), c.Name) {
			left = append(left, "file "+path)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(left, "\n")
}

// sweep removes what is left of the lab, so that a failed test does not fill
// the machine.
func (c *Cluster) sweep(t testing.TB) {
	filter := "label=" + label + "=" + c.Name
	for name := range strings.FieldsSeq(c.Docker(t, "ps", "-aq", "--filter", filter)) {
		c.Docker(t, "rm", "-f", "-v", name)
	}
	for name := range strings.FieldsSeq(c.Docker(t, "volume", "ls", "-q", "--filter", filter)) {
		c.Docker(t, "volume", "rm", name)
	}
	for name := range strings.FieldsSeq(c.Docker(t, "network", "ls", "-q", "--filter", filter)) {
		c.Docker(t, "network", "rm", name)
	}
}
