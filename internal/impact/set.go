package impact

import (
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// Set is a file set with what the files themselves do not tell.
type Set struct {
	// Version of Slurm.
	Version slurmconf.Version
	// Files, name to content. None at all: nothing was applied yet.
	Files map[string]string
	// Login are the hosts where people submit jobs.
	Login []string
}

// Of is the set of a rendering.
func Of(set slurmconf.FileSet, login ...string) Set {
	return Set{Version: set.Version, Files: set.Map(), Login: login}
}

// parsed is a set read record by record.
type parsed struct {
	Set
	controllers []string
	database    []string
	keys        map[string]entry             // key in lower case, of slurm.conf itself
	nodes       map[string]map[string]string // node to key to value
	nodeOrder   []string
	partitions  map[string]map[string]string
	nodeSets    map[string]map[string]string
	gres        map[string]string // node to its records of gres.conf
}

// entry is a key as it is written and its value; repeated keys are joined.
type entry struct{ key, value string }

func parse(s Set) (*parsed, error) {
	p := &parsed{
		Set: s, keys: map[string]entry{}, nodes: map[string]map[string]string{},
		partitions: map[string]map[string]string{}, nodeSets: map[string]map[string]string{}, gres: map[string]string{},
	}
	lines, err := slurmconf.Parse(s.Files["slurm.conf"])
	if err != nil {
		return nil, fmt.Errorf("reading slurm.conf: %w", err)
	}
	for _, l := range lines {
		if err := p.slurmLine(l); err != nil {
			return nil, err
		}
	}
	if err := p.gresLines(); err != nil {
		return nil, err
	}
	dbd, err := slurmconf.Parse(s.Files["slurmdbd.conf"])
	if err != nil {
		return nil, fmt.Errorf("reading slurmdbd.conf: %w", err)
	}
	for _, l := range dbd {
		if host, ok := l.Get("DbdHost"); ok {
			p.database = []string{host}
		}
	}
	return p, nil
}

func (p *parsed) slurmLine(l slurmconf.Line) error {
	switch {
	case l.Include != "":
		p.add("Include", l.Include)
	case l.Is("NodeName"):
		return p.nodeLine(l)
	case l.Is("PartitionName"):
		p.partitions[l.Pairs[0].Value] = record(l)
	case l.Is("NodeSet"):
		p.nodeSets[l.Pairs[0].Value] = record(l)
	default:
		for _, pair := range l.Pairs {
			p.add(pair.Key, pair.Value)
		}
		if l.Is("SlurmctldHost") {
			host, _, _ := strings.Cut(l.Pairs[0].Value, "(")
			p.controllers = append(p.controllers, host)
		}
	}
	return nil
}

func (p *parsed) add(key, value string) {
	low := strings.ToLower(key)
	if e, ok := p.keys[low]; ok {
		value = e.value + " " + value
	}
	p.keys[low] = entry{key, value}
}

// record are the keys of a line after its first. Keys that Slurm spells in two
// ways are told apart only by case, which is folded.
func record(l slurmconf.Line) map[string]string {
	m := make(map[string]string, len(l.Pairs))
	for _, pair := range l.Pairs[1:] {
		m[strings.ToLower(pair.Key)] = pair.Value
	}
	return m
}

// nodeLine spreads a NodeName line over its nodes; places that are listed (an
// address each) are dealt out, and nodes of one line share the other keys.
func (p *parsed) nodeLine(l slurmconf.Line) error {
	names, err := hostlist.Expand(l.Pairs[0].Value)
	if err != nil {
		return fmt.Errorf("reading slurm.conf, line %d: %w", l.Number, err)
	}
	shared := record(l)
	dealt := map[string][]string{}
	for _, key := range []string{"nodeaddr", "nodehostname", "port"} {
		value, ok := shared[key]
		if !ok {
			continue
		}
		values, err := hostlist.Expand(value)
		if err != nil || len(values) != len(names) {
			continue // one for all, or a form that only Slurm reads
		}
		dealt[key] = values
	}
	for i, n := range names {
		keys := shared
		if len(dealt) > 0 {
			keys = make(map[string]string, len(shared))
			for k, v := range shared {
				keys[k] = v
			}
			for k, values := range dealt {
				keys[k] = values[i]
			}
		}
		p.nodes[n] = keys
		p.nodeOrder = append(p.nodeOrder, n)
	}
	return nil
}

func (p *parsed) gresLines() error {
	lines, err := slurmconf.Parse(p.Files["gres.conf"])
	if err != nil {
		return fmt.Errorf("reading gres.conf: %w", err)
	}
	for _, l := range lines {
		if !l.Is("NodeName") {
			continue
		}
		names, err := hostlist.Expand(l.Pairs[0].Value)
		if err != nil {
			return fmt.Errorf("reading gres.conf, line %d: %w", l.Number, err)
		}
		var text strings.Builder
		for _, pair := range l.Pairs[1:] {
			text.WriteString(" " + pair.Key + "=" + pair.Value)
		}
		for _, n := range names {
			p.gres[n] += text.String() + ";"
		}
	}
	return nil
}

// host is the machine that a node lives on.
func (p *parsed) host(node string) string {
	if h := p.nodes[node]["nodehostname"]; h != "" {
		return h
	}
	return node
}

// hosts are the machines of all nodes, each once.
func (p *parsed) hosts() []string {
	seen := make(map[string]bool, len(p.nodeOrder))
	var out []string
	for _, n := range p.nodeOrder {
		if h := p.host(n); !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	hostlist.Sort(out)
	return out
}
