package accounting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Ledger lists what was made for one cluster. It is written before anything is
// made, so it may list what does not exist, but never lacks what was made.
type Ledger struct {
	// Cluster that it is about.
	Cluster string
	keys    map[Key]bool
	// serial counts the times that it was written.
	serial int
}

// Keepers are the controllers of a cluster: each keeps a copy of the ledger. With
// one copy, another order of the controllers or a lost disk would make
// everything somebody else's.
type Keepers []shell.Runner

// each runs a command on every keeper that can be reached. The error is that of a
// command that failed, or of the last keeper when none could be reached.
func (all Keepers) each(ctx context.Context, command string, stdin []byte, took func(out []byte) error) error {
	var unreachable error
	reached := false
	for _, r := range all {
		out, err := r.Run(ctx, command, stdin)
		var failed *shell.ExitError
		switch {
		case err == nil:
			reached = true
			if err := took(out); err != nil {
				return err
			}
		case errors.As(err, &failed):
			return err
		default:
			unreachable = err
		}
	}
	if !reached {
		return unreachable
	}
	return nil
}

// LedgerPath is where the ledger of a cluster lies on its controllers.
func LedgerPath(cluster string) string {
	return "/var/lib/gpucluster/accounting-" + cluster + ".json"
}

// NewLedger is a ledger that lists keys.
func NewLedger(cluster string, keys ...Key) Ledger {
	l := Ledger{Cluster: cluster, keys: map[Key]bool{}}
	for _, k := range keys {
		l.keys[folded(k)] = true
	}
	return l
}

// Has tells whether an entity was made here.
func (l Ledger) Has(k Key) bool { return l.keys[folded(k)] }

// Keys lists what was made here, sorted.
func (l Ledger) Keys() []Key {
	var keys []Key
	for k := range l.keys {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

// with returns a ledger that lists more, and less.
func (l Ledger) with(more, less []Key) Ledger {
	next := NewLedger(l.Cluster, l.Keys()...)
	next.serial = l.serial
	for _, k := range more {
		next.keys[k] = true
	}
	for _, k := range less {
		delete(next.keys, k)
	}
	return next
}

// ledgerFile is the ledger as it lies on disk: a list of names a kind.
type ledgerFile struct {
	Cluster string            `json:"cluster"`
	Serial  int               `json:"serial,omitempty"`
	Made    map[Kind][]string `json:"made"`
}

// MarshalJSON writes the ledger, sorted.
func (l Ledger) MarshalJSON() ([]byte, error) {
	f := ledgerFile{Cluster: l.Cluster, Serial: l.serial, Made: map[Kind][]string{}}
	for _, k := range l.Keys() {
		name := k.Name
		if k.Kind == KindAssociation {
			name = k.Account + "/" + k.Name
		}
		f.Made[k.Kind] = append(f.Made[k.Kind], name)
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON wrote, strictly.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	var f ledgerFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return err
	}
	*l = NewLedger(f.Cluster)
	l.serial = f.Serial
	for kind, names := range f.Made {
		if _, known := managed[kind]; !known && kind != KindBank {
			return fmt.Errorf("unknown kind %q", kind)
		}
		for _, name := range names {
			k := Key{Kind: kind, Name: name}
			if kind == KindAssociation {
				var ok bool
				if k.Account, k.Name, ok = strings.Cut(name, "/"); !ok {
					return fmt.Errorf("association %q has no account", name)
				}
			}
			l.keys[folded(k)] = true
		}
	}
	return nil
}

// ReadLedger reads the ledger, of several copies the one that was written last;
// there being none is an empty one.
func ReadLedger(ctx context.Context, from Keepers, cluster string) (Ledger, error) {
	file := shell.Quote(LedgerPath(cluster))
	last := NewLedger(cluster)
	err := from.each(ctx, "if [ -e "+file+" ]; then cat "+file+"; fi", nil, func(out []byte) error {
		if len(bytes.TrimSpace(out)) == 0 {
			return nil
		}
		var l Ledger
		if err := json.Unmarshal(out, &l); err != nil {
			return fmt.Errorf("%s: %w", LedgerPath(cluster), err)
		}
		if l.Cluster != cluster {
			return fmt.Errorf("%s is about cluster %q", LedgerPath(cluster), l.Cluster)
		}
		if l.serial >= last.serial {
			last = l
		}
		return nil
	})
	if err != nil {
		return Ledger{}, fmt.Errorf("reading the accounting ledger: %w", err)
	}
	return last, nil
}

// Write replaces the ledger on every keeper that can be reached, whole or not at
// all. A copy that is missed is older than the others from then on.
func (l *Ledger) Write(ctx context.Context, to Keepers) error {
	l.serial++
	data, err := json.MarshalIndent(*l, "", "  ")
	if err != nil {
		return err
	}
	file := LedgerPath(l.Cluster)
	script := "set -e\numask 077\nmkdir -p " + shell.Quote(path.Dir(file)) + "\nnew=" + shell.Quote(file+".new") +
		"\ncat >\"$new\"\nsync \"$new\"\nmv -f \"$new\" " + shell.Quote(file) + "\n"
	if err := to.each(ctx, script, append(data, '\n'), func([]byte) error { return nil }); err != nil {
		return fmt.Errorf("writing the accounting ledger: %w", err)
	}
	return nil
}
