package impact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// StartDigest is a short digest of what every slurmd of a cluster reads only
// when it starts: when it differs, each of them has to restart. What concerns
// one node alone, such as its shape, is not part of it where a reload takes
// node changes.
func StartDigest(s Set) (string, error) {
	p, err := parse(s)
	if err != nil {
		return "", err
	}
	rules := rulesFor(s.Version)
	var text strings.Builder
	for _, low := range unionKeys(p.keys, nil) {
		if slices.Contains(rules.key(low).actions, RestartHosts) {
			fmt.Fprintf(&text, "%s=%s\n", low, p.keys[low].value)
		}
	}
	if !s.Version.ReconfigureTakesNodes() {
		p.writeNodes(&text)
		for _, name := range []string{"cgroup.conf", "job_container.conf"} {
			fmt.Fprintf(&text, "%s\n%s\n", name, meaning(name, s.Files[name]))
		}
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:])[:16], nil
}

// writeNodes writes every node with what a change of would restart slurmd.
func (p *parsed) writeNodes(text *strings.Builder) {
	for _, node := range p.nodeOrder {
		fmt.Fprintf(text, "node %s", node)
		for _, key := range unionKeys(p.nodes[node], nil) {
			if key != "state" && key != "reason" {
				fmt.Fprintf(text, " %s=%s", key, p.nodes[node][key])
			}
		}
		fmt.Fprintf(text, " %s\n", p.gres[node])
	}
}

// NodeStarts tells, for each node, what its slurmd reads about it only when it
// starts: shape, place and devices. Where it differs, that slurmd has to
// restart.
func NodeStarts(s Set) (map[string]string, error) {
	p, err := parse(s)
	if err != nil {
		return nil, err
	}
	starts := make(map[string]string, len(p.nodeOrder))
	for _, node := range p.nodeOrder {
		var words []string
		for _, key := range unionKeys(p.nodes[node], nil) {
			if shape[key] || place[key] || key == "realmemory" {
				words = append(words, slurmconf.Spelling("node", key)+"="+p.nodes[node][key])
			}
		}
		if devices := tidy(p.gres[node]); devices != "" {
			words = append(words, "with", devices)
		}
		starts[node] = strings.Join(words, " ")
	}
	return starts, nil
}
