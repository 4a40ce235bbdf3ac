package impact

import (
	"testing"
)

func TestLines(t *testing.T) {
	previous := Set{Files: map[string]string{
		"cgroup.conf": "CgroupPlugin=autodetect\n",
		"gres.conf":   "AutoDetect=off\n",
		"slurm.conf":  "# head\nA=1\nB=2\nC=3\n",
	}}
	next := Set{Files: map[string]string{
		"cgroup.conf":   "CgroupPlugin=autodetect\n",
		"slurm.conf":    "# head\nA=1\nB=20\nC=3\nD=4",
		"topology.conf": "SwitchName=leaf1 Nodes=gpu1\n",
	}}
	want := `gres.conf
  - AutoDetect=off
slurm.conf
  - B=2
  + B=20
  + D=4
topology.conf
  + SwitchName=leaf1 Nodes=gpu1
`
	if got := Lines(previous, next); got != want {
		t.Errorf("Lines gives\n%s\nwant\n%s", got, want)
	}
	if got := Lines(next, next); got != "" {
		t.Errorf("a set and itself differ in\n%s", got)
	}
}
