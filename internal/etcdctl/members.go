package etcdctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Member is one of those that hold the data.
type Member struct {
	// ID as etcdctl takes it.
	ID string
	// Name is that of the host; empty for one that has been added and has never
	// started.
	Name string
	// Peers are the URLs by which the others reach it.
	Peers []string
	// Learner tells that it has no vote yet.
	Learner bool
	// Healthy tells that it answered, and takes writes.
	Healthy bool
	// Why is what is wrong with one that is not healthy.
	Why string
}

// memberList is what "member list" says.
type memberList struct {
	Members []struct {
		ID         uint64   `json:"ID"`
		Name       string   `json:"name"`
		PeerURLs   []string `json:"peerURLs"`
		ClientURLs []string `json:"clientURLs"`
		IsLearner  bool     `json:"isLearner"`
	} `json:"members"`
}

// health is what "endpoint health" says of one member.
type health struct {
	Endpoint string `json:"endpoint"`
	Health   bool   `json:"health"`
	Error    string `json:"error"`
}

// Members lists the members, by the time of their coming, and asks each for its
// health.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	out, err := c.script(ctx, "etcd --write-out json member list")
	if err != nil {
		return nil, fmt.Errorf("asking etcd for its members: %w", err)
	}
	var list memberList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("reading etcd's members: %w", err)
	}
	// It fails where one of them is not healthy, and says which all the same.
	out, err = c.script(ctx, "etcd --write-out json endpoint health --cluster")
	var failed *shell.ExitError
	if err != nil && (!errors.As(err, &failed) || strings.TrimSpace(out) == "") {
		return nil, fmt.Errorf("asking etcd's members how they are: %w", err)
	}
	var healths []health
	if err := json.Unmarshal([]byte(out), &healths); err != nil {
		return nil, fmt.Errorf("reading how etcd's members are: %w", err)
	}
	return join(list, healths), nil
}

func join(list memberList, healths []health) []Member {
	all := make([]Member, len(list.Members))
	for i, m := range list.Members {
		all[i] = Member{ID: fmt.Sprintf("%x", m.ID), Name: m.Name, Peers: m.PeerURLs, Learner: m.IsLearner, Why: "it has never started"}
		for _, h := range healths {
			if slices.Contains(m.ClientURLs, h.Endpoint) {
				all[i].Healthy, all[i].Why = h.Health, h.Error
			}
		}
	}
	return all
}

// ErrQuorum says that a member cannot be removed, since the others could then
// not agree on anything any more.
var ErrQuorum = errors.New("etcd would have no majority")

// MayLose tells whether the member of that ID can be removed: more than half of
// the members agree now, and of those that stay more than half will. The error
// is [ErrQuorum].
func MayLose(members []Member, id string) error {
	var before, agree, after, left int
	for _, m := range members {
		if m.Learner {
			continue
		}
		stays := m.ID != id
		before += count(true)
		agree += count(m.Healthy)
		after += count(stays)
		left += count(stays && m.Healthy)
	}
	if agree > before/2 && left > after/2 {
		return nil
	}
	return fmt.Errorf("%w: of its %d members %d answer now, and of the %d that would be left %d would", ErrQuorum, before, agree, after, left)
}

func count(one bool) int {
	if one {
		return 1
	}
	return 0
}

// Remove removes a member for good, unless [MayLose] refuses it. One that still
// runs has to be ended by whoever calls, and its data removed.
func (c *Client) Remove(ctx context.Context, id string) error {
	members, err := c.Members(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(members, func(m Member) bool { return m.ID == id }) {
		return nil
	}
	if err := MayLose(members, id); err != nil {
		return err
	}
	if _, err := c.script(ctx, shell.Words("etcd", "member", "remove", id)); err != nil {
		return fmt.Errorf("removing a member of etcd: %w", err)
	}
	return nil
}
