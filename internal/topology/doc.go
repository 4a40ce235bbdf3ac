// Package topology holds the fabric as a tree of switches: what it must look
// like for Slurm to place jobs by it, and what has to be left out of it.
//
// [Check] reports every problem of a tree against the cluster's nodes, [Prune]
// removes switches that no node hangs under, and [Text] writes Slurm's
// topology.conf. Nothing here does I/O.
package topology

// Switch is one switch. A leaf has Nodes, any other has Switches; never both.
type Switch struct {
	// Name is unique among the switches, at most 64 bytes.
	Name string
	// Nodes are the names of the nodes on a leaf.
	Nodes []string
	// Switches are the names of the switches directly below.
	Switches []string
}

// MaxDepth is the most levels of switches that Slurm accepts.
const MaxDepth = 20

// Severity tells an error from advice.
type Severity int

// A problem is an Error unless Slurm works with it and only serves less well.
const (
	Error Severity = iota
	Advice
)

// Problem is one thing wrong with a tree.
type Problem struct {
	// Switch is the index in the slice given to [Check], or -1 when the
	// problem is of the tree as a whole.
	Switch int
	// Field is "name", "nodes" or "switches", or empty.
	Field string
	// What is wrong, and Hint what to write instead.
	What, Hint string
	Severity   Severity
}
