package accounting

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Observed is what the database holds.
type Observed struct {
	// Cluster is the one that was asked about; Registered tells whether the
	// database knows it.
	Cluster    string
	Registered bool
	// Entities with canonical fields. Associations and accounts are those of
	// the cluster; fields that are inherited are left at their default.
	Entities map[Key]map[Field]string
	// Elsewhere are the accounts (KindBank), users and QOS that other clusters,
	// or associations bound to a partition, use as well.
	Elsewhere map[Key]bool
	// TRES that the database knows, such as "gres/gpu".
	TRES map[string]bool
}

// query is one question to sacctmgr. The columns are stable from 22.05 on; at
// most the last one is free text, which may hold the separator.
type query struct {
	args    []string
	columns []string
}

const separator = "|"

// queries in the order in which Parse takes their outputs.
func queries() []query {
	return []query{
		{[]string{"cluster"}, []string{"Cluster"}},
		{[]string{"tres"}, []string{"Type", "Name"}},
		{[]string{"qos"}, columns("Name", KindQOS, FieldDescription)},
		{[]string{"account"}, []string{"Account", "Description"}},
		{[]string{"account"}, []string{"Account", "Organization"}},
		{[]string{"user"}, columns("User", KindUser, "")},
		// Without parent limits: what is inherited is not an entity's own.
		{[]string{"assoc", "wopl"}, []string{"Cluster", "Account", "User", "Partition", "ParentName", "Share", "QOS",
			"DefaultQOS", "GrpTRES", "MaxTRES", "GrpJobs", "GrpSubmit", "MaxJobs", "MaxSubmit", "MaxWall"}},
	}
}

// columns lists a kind's columns, with the free text last.
func columns(name string, kind Kind, text Field) []string {
	cols := []string{name}
	for _, f := range managed[kind] {
		if f != text {
			cols = append(cols, properties[f].column)
		}
	}
	if text != "" {
		cols = append(cols, properties[text].column)
	}
	return cols
}

func (q query) command() string {
	args := append([]string{"sacctmgr", "-nP", "show"}, q.args...)
	return shell.Words(append(args, "format="+strings.Join(q.columns, ","))...)
}

// Observe reads the database through sacctmgr on the controller.
func Observe(ctx context.Context, r shell.Runner, cluster string) (Observed, error) {
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, q := range queries() {
		script.WriteString("echo '" + mark + "'\n" + q.command() + "\n")
	}
	out, err := r.Run(ctx, script.String(), nil)
	if err != nil {
		return Observed{}, fmt.Errorf("reading the accounting database: %w", err)
	}
	return Parse(cluster, string(out))
}

// mark is a line between two answers.
const mark = "== gpucluster =="

// Parse reads the answers to this package's questions, each after a line of mark.
func Parse(cluster, out string) (Observed, error) {
	all := queries()
	parts := strings.Split("\n"+out, "\n"+mark+"\n")
	if len(parts) != len(all)+1 {
		return Observed{}, fmt.Errorf("reading the accounting database: %d answers to %d questions", len(parts)-1, len(all))
	}
	o := Observed{Cluster: cluster, Entities: map[Key]map[Field]string{}, Elsewhere: map[Key]bool{}, TRES: map[string]bool{}}
	for i, q := range all {
		for _, line := range strings.Split(parts[i+1], "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			cells := strings.SplitN(line, separator, len(q.columns))
			if len(cells) != len(q.columns) {
				return Observed{}, fmt.Errorf("reading the accounting database: %d fields in %q, want %d", len(cells), line, len(q.columns))
			}
			row := map[string]string{}
			for j, c := range q.columns {
				row[c] = cells[j]
			}
			if err := o.add(q, row); err != nil {
				return Observed{}, fmt.Errorf("reading the accounting database: %q: %w", line, err)
			}
		}
	}
	return o, nil
}

// add takes in one row of an answer.
func (o *Observed) add(q query, row map[string]string) error {
	switch q.args[0] {
	case "cluster":
		o.Registered = o.Registered || row["Cluster"] == o.Cluster
		return nil
	case "tres":
		name := row["Type"]
		if row["Name"] != "" {
			name += "/" + row["Name"]
		}
		o.TRES[strings.ToLower(name)] = true
		return nil
	case "qos":
		return o.set(Key{Kind: KindQOS, Name: row["Name"]}, row)
	case "account":
		return o.set(Key{Kind: KindBank, Name: row["Account"]}, row)
	case "user":
		return o.set(Key{Kind: KindUser, Name: row["User"]}, row)
	}
	return o.addAssociation(row)
}

func (o *Observed) addAssociation(row map[string]string) error {
	name, user := row["Account"], row["User"]
	if row["Cluster"] != o.Cluster || row["Partition"] != "" {
		o.Elsewhere[folded(Key{Kind: KindBank, Name: name})] = true
		if user != "" {
			o.Elsewhere[folded(Key{Kind: KindUser, Name: user})] = true
		}
		for _, qos := range strings.Split(row["QOS"]+","+row["DefaultQOS"], ",") {
			// A list may be relative to the parent's: +this,-that.
			if qos = strings.TrimLeft(qos, "+-"); qos != "" {
				o.Elsewhere[folded(Key{Kind: KindQOS, Name: qos})] = true
			}
		}
		return nil
	}
	if user != "" {
		return o.set(Key{Kind: KindAssociation, Name: user, Account: name}, row)
	}
	return o.set(Key{Kind: KindAccount, Name: name}, row)
}

// set keeps the managed fields that the row has.
func (o *Observed) set(key Key, row map[string]string) error {
	key = folded(key)
	fields := o.Entities[key]
	if fields == nil {
		fields = map[Field]string{}
		o.Entities[key] = fields
	}
	kind := key.Kind
	if kind == KindBank {
		kind = KindAccount
	}
	for _, f := range managed[kind] {
		cell, shown := row[properties[f].column]
		if !shown {
			continue
		}
		c, err := Canonical(f, cell)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		fields[f] = c
	}
	return nil
}

func folded(k Key) Key {
	return Key{Kind: k.Kind, Name: strings.ToLower(k.Name), Account: strings.ToLower(k.Account)}
}

// value of an entity's field; an account's texts are its bank account's.
func (o Observed) value(k Key, f Field) string {
	if k.Kind == KindAccount && (f == FieldDescription || f == FieldOrganization) {
		k.Kind = KindBank
	}
	if v, ok := o.Entities[k][f]; ok {
		return v
	}
	return properties[f].otherwise
}

func (o Observed) has(k Key) bool {
	_, ok := o.Entities[k]
	return ok
}
