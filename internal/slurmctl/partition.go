package slurmctl

import (
	"context"
	"fmt"
)

// Partition is what slurmctld knows about a partition.
type Partition struct {
	// Name of the partition.
	Name string
	// Nodes in it.
	Nodes []string
	// State is UP, DOWN, DRAIN or INACTIVE.
	State string
	// Default, RootOnly, NoRoot (DisableRootJobs) and Hidden are as in slurm.conf.
	Default, RootOnly, NoRoot, Hidden bool
	// AllowAccounts and AllowQOS bound who may use it; nil is everybody.
	AllowAccounts, AllowQOS []string
}

// ParsePartitions reads the output of `scontrol show partition -o`.
func ParsePartitions(out string) ([]Partition, error) {
	var all []Partition
	for _, line := range lines(out) {
		if line == "No partitions in the system" {
			continue
		}
		rec := parseRecord(line)
		p := Partition{
			Name:     rec.value("PartitionName"),
			State:    rec.value("State"),
			Default:  rec["Default"] == "YES",
			RootOnly: rec["RootOnly"] == "YES",
			NoRoot:   rec["DisableRootJobs"] == "YES",
			Hidden:   rec["Hidden"] == "YES",
		}
		if p.Name == "" {
			return nil, fmt.Errorf("reading a partition: no PartitionName in %q", clip(line))
		}
		var err error
		if p.Nodes, err = expand(rec.value("Nodes")); err != nil {
			return nil, fmt.Errorf("reading partition %s: %w", p.Name, err)
		}
		if v := rec.value("AllowAccounts"); v != "ALL" {
			p.AllowAccounts = commas(v)
		}
		if v := rec.value("AllowQos"); v != "ALL" {
			p.AllowQOS = commas(v)
		}
		all = append(all, p)
	}
	return all, nil
}

// Partitions lists all partitions, hidden ones too.
func (c *Client) Partitions(ctx context.Context) ([]Partition, error) {
	out, err := c.output(ctx, "scontrol", "-a", "-o", "show", "partition")
	if err != nil {
		return nil, fmt.Errorf("listing partitions: %w", err)
	}
	return ParsePartitions(out)
}

// rootPartition picks the partition in which root can run a job on the node:
// one for root alone before others, one open to all accounts before others.
func rootPartition(all []Partition, node string) (string, error) {
	best, rank := "", -1
	for _, p := range all {
		if p.State != "UP" || p.NoRoot || !overlap(p.Nodes, []string{node}) {
			continue
		}
		r := 0
		if p.AllowAccounts == nil && p.AllowQOS == nil {
			r = 1
		}
		if p.RootOnly {
			r += 2
		}
		if r > rank {
			best, rank = p.Name, r
		}
	}
	if best == "" {
		return "", fmt.Errorf("no partition that is up lets root run a job on %s", node)
	}
	return best, nil
}
