package slurmctl

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Node is what slurmctld knows about a node.
type Node struct {
	// Name in slurm.conf.
	Name string
	// Addr is where slurmctld reaches it; the name when nothing else is given.
	Addr string
	// HostName that the node's slurmd runs on.
	HostName string
	// Version of its slurmd; empty until it registers.
	Version string
	// State of the node.
	State State
	// Reason of a drain or failure, without the author; ReasonUser is who set it.
	Reason, ReasonUser string
	// CPUs, Boards, Sockets (of all boards), Cores in a socket, Threads in a
	// core, and RealMemory in MiB, as configured.
	CPUs, Boards, Sockets, Cores, Threads int
	RealMemory                            int64
	// Gres that the node has and that jobs hold now.
	Gres, GresUsed []Gres
	// Partitions that the node is in.
	Partitions []string
}

// ParseNodes reads the output of `scontrol show node -o -d`.
func ParseNodes(out string) ([]Node, error) {
	var nodes []Node
	for _, line := range lines(out) {
		if strings.HasPrefix(line, "No nodes in the system") {
			continue
		}
		n, err := parseNode(line)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func parseNode(line string) (Node, error) {
	rec := parseRecord(line, "Reason", "Comment", "Extra")
	n := Node{Name: rec.value("NodeName")}
	if n.Name == "" {
		return Node{}, fmt.Errorf("reading a node: no NodeName in %q", clip(line))
	}
	n.Addr, n.HostName, n.Version = rec.value("NodeAddr"), rec.value("NodeHostName"), rec.value("Version")
	n.State = ParseState(rec["State"])
	n.Reason, n.ReasonUser = parseReason(rec["Reason"])
	if p := rec.value("Partitions"); p != "" {
		n.Partitions = strings.Split(p, ",")
	}
	for _, f := range []struct {
		key string
		to  *int
	}{
		{"CPUTot", &n.CPUs}, {"Boards", &n.Boards}, {"Sockets", &n.Sockets},
		{"CoresPerSocket", &n.Cores}, {"ThreadsPerCore", &n.Threads},
	} {
		if rec[f.key] == "" {
			continue
		}
		v, err := strconv.Atoi(rec[f.key])
		if err != nil {
			return Node{}, fmt.Errorf("reading node %s: %s is %q", n.Name, f.key, rec[f.key])
		}
		*f.to = v
	}
	if m := rec["RealMemory"]; m != "" {
		v, err := strconv.ParseInt(m, 10, 64)
		if err != nil {
			return Node{}, fmt.Errorf("reading node %s: RealMemory is %q", n.Name, m)
		}
		n.RealMemory = v
	}
	var err error
	if n.Gres, err = ParseGres(rec["Gres"]); err != nil {
		return Node{}, fmt.Errorf("reading node %s: %w", n.Name, err)
	}
	if n.GresUsed, err = ParseGres(rec["GresUsed"]); err != nil {
		return Node{}, fmt.Errorf("reading node %s: %w", n.Name, err)
	}
	return n, nil
}

// parseReason cuts "text [user@2026-01-02T03:04:05]" and drops the fields
// that may follow it. The text itself is anybody's.
func parseReason(text string) (reason, user string) {
	if text == "(null)" {
		return "", ""
	}
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], " [")
		if i < 0 {
			break
		}
		open := from + i
		end := strings.IndexByte(text[open:], ']')
		if end < 0 {
			break
		}
		inside, tail := text[open+2:open+end], strings.TrimSpace(text[open+end+1:])
		who, when, ok := strings.Cut(inside, "@")
		if ok && !strings.ContainsAny(inside, " [") && len(when) >= 19 && (tail == "" || keyLength(tail) > 0) {
			return strings.TrimSpace(text[:open]), who
		}
		from = open + 2
	}
	for _, key := range []string{" Comment=", " Extra="} {
		text, _, _ = strings.Cut(text, key)
	}
	return strings.TrimSpace(text), ""
}

// Nodes asks for all nodes, in Slurm's order.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	out, err := c.output(ctx, "scontrol", "-a", "-d", "-o", "show", "node")
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	return ParseNodes(out)
}

// NodesNamed asks for the named nodes and returns them in the order given. The
// error is an [*UnknownNodes] when slurmctld does not know some of them.
func (c *Client) NodesNamed(ctx context.Context, names []string) ([]Node, error) {
	all, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]Node, len(all))
	for _, n := range all {
		byName[n.Name] = n
	}
	return pick(byName, names)
}

// UnknownNodes are names that slurmctld does not know.
type UnknownNodes struct{ Names []string }

func (e *UnknownNodes) Error() string {
	return "slurmctld does not know " + strings.Join(e.Names, ", ")
}

// pick returns the named nodes of all, in the order given.
func pick(all map[string]Node, names []string) ([]Node, error) {
	var found []Node
	var unknown []string
	for _, name := range names {
		n, ok := all[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		found = append(found, n)
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return nil, &UnknownNodes{Names: unknown}
	}
	return found, nil
}

func clip(s string) string {
	if len(s) > 120 {
		return s[:120] + "..."
	}
	return s
}
