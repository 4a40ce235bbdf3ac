package accounting

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Command is one change of the database.
type Command struct {
	// Args follow "sacctmgr -i".
	Args []string
	// Comment says what it does, for a person.
	Comment string
}

// Removal is the end of an entity: it is stopped from getting jobs, its jobs end, it
// is deleted.
type Removal struct {
	// Key that goes.
	Key Key
	// Block stops new jobs; nil for what has no jobs of its own.
	Block *Command
	// Delete removes it.
	Delete Command
}

// Plan is the way from what the database holds to what is declared.
type Plan struct {
	// Commands that make and change, in order.
	Commands []Command
	// Removals, in order: what refers to another goes first.
	Removals []Removal
	// Record must be in the ledger before the first command, Forget may leave
	// it after the last one.
	Record, Forget []Key
	// Reports are about what is not ours, sorted.
	Reports []string
}

// Empty tells whether nothing is to do.
func (p Plan) Empty() bool { return len(p.Commands) == 0 && len(p.Removals) == 0 }

// builtin are the entities that every database has.
var builtin = map[Key]bool{
	{Kind: KindQOS, Name: "normal"}:                         true,
	{Kind: KindAccount, Name: "root"}:                       true,
	{Kind: KindBank, Name: "root"}:                          true,
	{Kind: KindUser, Name: "root"}:                          true,
	{Kind: KindAssociation, Name: "root", Account: "root"}:  true,
	{Kind: KindAssociation, Name: "slurm", Account: "root"}: true,
	{Kind: KindUser, Name: "slurm"}:                         true,
}

// differ computes a plan.
type differ struct {
	Plan
	want    map[Key]wanted
	have    Observed
	owned   Ledger
	cluster string
}

// Diff computes the way from observed to desired. owned lists what was made
// here before; nothing else is removed.
func Diff(desired Desired, observed Observed, owned Ledger) (Plan, error) {
	want, err := desired.canonical()
	if err != nil {
		return Plan{}, err
	}
	d := &differ{want: want, have: observed, owned: owned, cluster: desired.Cluster}
	if err := d.checkTRES(); err != nil {
		return Plan{}, err
	}
	d.makeQOS()
	accounts, err := d.accountsByDepth()
	if err != nil {
		return Plan{}, err
	}
	for _, k := range accounts {
		d.makeAccount(k)
	}
	for _, k := range d.associationsInOrder() {
		d.makeAssociation(k)
	}
	for _, k := range keysOf(want, KindUser) {
		d.change(k, d.made(k))
	}
	d.remove()
	d.report()
	slices.SortFunc(d.Record, compareKeys)
	slices.SortFunc(d.Forget, compareKeys)
	sort.Strings(d.Reports)
	return d.Plan, nil
}

// UnknownTRES are resources that limits name and the database does not know.
type UnknownTRES struct{ Names []string }

func (e *UnknownTRES) Error() string {
	return fmt.Sprintf("the database does not know %s: AccountingStorageTRES must list it, and slurmctld must have started with that once",
		strings.Join(e.Names, ", "))
}

func (d *differ) checkTRES() error {
	missing := map[string]bool{}
	for _, w := range d.want {
		for f, v := range w.stated {
			if properties[f].form != formTRES {
				continue
			}
			tres, _ := parseTRES(v)
			for name := range tres {
				if !d.have.TRES[name] {
					missing[name] = true
				}
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	e := &UnknownTRES{}
	for name := range missing {
		e.Names = append(e.Names, name)
	}
	sort.Strings(e.Names)
	return e
}

// made tells whether an entity is ours: recorded, or about to be made.
func (d *differ) made(k Key) bool { return d.owned.Has(k) || slices.Contains(d.Record, k) }

func (d *differ) run(comment string, args ...string) {
	d.Commands = append(d.Commands, Command{Args: args, Comment: comment})
}

// record notes that an entity is about to be made.
func (d *differ) record(k Key) {
	if !d.made(k) {
		d.Record = append(d.Record, k)
	}
}

// makeQOS makes all QOS before it lets one preempt another.
func (d *differ) makeQOS() {
	keys := keysOf(d.want, KindQOS)
	for _, k := range keys {
		if d.have.has(k) {
			continue
		}
		d.record(k)
		words, _ := d.assignments(k, true, func(f Field) bool { return f != FieldPreempt })
		d.run("make "+k.String(), append([]string{"add", "qos", k.Name}, prefixed("set", words)...)...)
	}
	for _, k := range keys {
		if d.have.has(k) {
			d.change(k, d.made(k))
			continue
		}
		if words, what := d.assignments(k, true, func(f Field) bool { return f == FieldPreempt }); len(words) > 0 {
			d.modify(k, words, what)
		}
	}
}

func (d *differ) makeAccount(k Key) {
	if d.have.has(k) {
		d.change(k, d.made(k))
		return
	}
	d.record(k)
	bank := Key{Kind: KindBank, Name: k.Name}
	if !d.have.has(bank) {
		d.record(bank)
	}
	words, _ := d.assignments(k, true, func(f Field) bool { return d.made(bank) || f != FieldDescription && f != FieldOrganization })
	d.run("make "+k.String(), append([]string{"add", "account", k.Name, "cluster=" + d.cluster}, words...)...)
}

func (d *differ) makeAssociation(k Key) {
	if d.have.has(k) {
		d.change(k, d.made(k))
		return
	}
	d.record(k)
	user := Key{Kind: KindUser, Name: k.Name}
	if !d.have.has(user) {
		d.record(user)
	}
	words, _ := d.assignments(k, true, nil)
	args := []string{"add", "user", k.Name, "cluster=" + d.cluster, "account=" + k.Account}
	d.run("make "+k.String(), append(args, words...)...)
}

// change sets what differs. What is not ours is changed only where a field is stated.
func (d *differ) change(k Key, ours bool) {
	words, what := d.assignments(k, ours, nil)
	if len(words) == 0 {
		return
	}
	if k.Kind == KindUser && !d.have.has(k) {
		// The first association makes the user, with that account as default.
		words, what = without(words, what, strings.ToLower(string(FieldDefaultAccount))+"=")
		if len(words) == 0 {
			return
		}
	}
	d.modify(k, words, what)
}

func without(words, what []string, prefix string) (w, t []string) {
	for i := range words {
		if !strings.HasPrefix(words[i], prefix) {
			w, t = append(w, words[i]), append(t, what[i])
		}
	}
	return w, t
}

func (d *differ) modify(k Key, words, what []string) {
	args := append([]string{"modify"}, d.where(k)...)
	d.run("change "+k.String()+": "+strings.Join(what, ", "), append(args, prefixed("set", words)...)...)
}

// where names an entity in a modify or delete.
func (d *differ) where(k Key) []string {
	switch k.Kind {
	case KindAssociation:
		return []string{"user", "where", "name=" + k.Name, "account=" + k.Account, "cluster=" + d.cluster}
	case KindAccount:
		return []string{"account", "where", "name=" + k.Name, "cluster=" + d.cluster}
	case KindBank:
		return []string{"account", "where", "name=" + k.Name}
	case KindUser:
		return []string{"user", "where", "name=" + k.Name}
	}
	return []string{"qos", "where", "name=" + k.Name}
}

// assignments are the words that set what differs, with a text for each.
func (d *differ) assignments(k Key, ours bool, only func(Field) bool) (words, what []string) {
	for _, f := range managed[k.Kind] {
		if only != nil && !only(f) {
			continue
		}
		to, ok := d.want[k].value(f, ours)
		if !ok {
			continue
		}
		from := d.have.value(k, f)
		if equal(f, from, to) {
			continue
		}
		words = append(words, assignment(f, from, to))
		what = append(what, fmt.Sprintf("%s %s -> %s", f, orNone(from), orNone(to)))
	}
	return words, what
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func prefixed(word string, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	return append([]string{word}, words...)
}
