package accounting

import (
	"fmt"
	"slices"
	"strings"
)

// goes tells whether an entity is ours and no longer declared.
func (d *differ) goes(k Key) bool {
	_, declared := d.want[k]
	return !declared && d.owned.Has(k)
}

// remove plans the end of what is ours and no longer declared: associations, then
// users, then accounts from the leaves up, then QOS.
func (d *differ) remove() {
	gone := map[Key]bool{}
	for _, k := range keysOf(d.have.Entities, KindAssociation) {
		if d.goes(k) {
			gone[k] = true
			d.removal(k, "maxsubmitjobs=0")
		}
	}
	for _, k := range keysOf(d.have.Entities, KindUser) {
		if d.goes(k) && !d.inUse(k, gone) {
			d.removal(k, "")
		}
	}
	for _, k := range d.removedAccounts() {
		// Slurm would delete what is below it as well, or leave it without a
		// parent, which makes slurmdbd 24.11 loop for ever.
		if below := d.below(k, gone); len(below) > 0 {
			d.Reports = append(d.Reports, fmt.Sprintf("%s is no longer declared, but stays: %s is in it and not made here", k, strings.Join(below, ", ")))
			continue
		}
		gone[k] = true
		d.removal(k, "grpsubmitjobs=0")
		bank := Key{Kind: KindBank, Name: k.Name}
		if d.owned.Has(bank) && !d.have.Elsewhere[bank] {
			d.removal(bank, "")
		}
	}
	for _, k := range keysOf(d.have.Entities, KindQOS) {
		switch {
		case !d.goes(k):
		case d.have.Elsewhere[k]:
			// A QOS is of the whole database: jobs of other clusters run in it.
			d.Reports = append(d.Reports, fmt.Sprintf("%s is no longer declared, but stays: another cluster, or an association bound to a partition, uses it", k))
		default:
			d.removal(k, "grpsubmitjobs=0")
		}
	}
	d.forget()
}

// from tells the two ends of an account apart.
var from = map[Kind]string{KindAccount: " from the cluster", KindBank: " from the database"}

func (d *differ) removal(k Key, block string) {
	r := Removal{Key: k, Delete: Command{Args: append([]string{"delete"}, d.where(k)...), Comment: "remove " + k.String() + from[k.Kind]}}
	if block != "" {
		args := append([]string{"modify"}, d.where(k)...)
		r.Block = &Command{Args: append(args, "set", block), Comment: "stop new jobs of " + k.String()}
	}
	d.Removals = append(d.Removals, r)
	d.Forget = append(d.Forget, k)
}

// inUse tells whether a user keeps an association, here or elsewhere.
func (d *differ) inUse(user Key, gone map[Key]bool) bool {
	for k := range d.have.Entities {
		if k.Kind == KindAssociation && k.Name == user.Name && !gone[k] {
			return true
		}
	}
	for k := range d.want {
		if k.Kind == KindAssociation && k.Name == user.Name {
			return true
		}
	}
	return d.have.Elsewhere[user]
}

// below lists what is in an account and stays. Declared accounts are moved to
// their new parent before.
func (d *differ) below(account Key, gone map[Key]bool) []string {
	var stay []string
	for k, fields := range d.have.Entities {
		if gone[k] {
			continue
		}
		switch k.Kind {
		case KindAssociation:
			if k.Account == account.Name {
				stay = append(stay, "user "+k.Name)
			}
		case KindAccount:
			parent := fields[FieldParent]
			if want, declared := d.want[k]; declared {
				if v, ok := want.value(FieldParent, d.made(k)); ok {
					parent = v
				}
			}
			if parent == account.Name && k.Name != account.Name {
				stay = append(stay, k.String())
			}
		}
	}
	slices.Sort(stay)
	return stay
}

// forget drops from the ledger what is neither there nor wanted.
func (d *differ) forget() {
	for _, k := range d.owned.Keys() {
		_, declared := d.want[k]
		if k.Kind == KindBank {
			_, declared = d.want[Key{Kind: KindAccount, Name: k.Name}]
		}
		if !declared && !d.have.has(k) && !slices.Contains(d.Forget, k) {
			d.Forget = append(d.Forget, k)
		}
	}
}

// report tells about what is there and not ours.
func (d *differ) report() {
	for k := range d.have.Entities {
		_, declared := d.want[k]
		switch {
		case builtin[k] && !declared, d.made(k):
		case k.Kind == KindBank, k.Kind == KindUser:
			// Their places in this cluster tell.
		case declared:
			d.Reports = append(d.Reports, k.String()+" existed before: only the fields that are stated are set, and it is never removed")
		default:
			d.Reports = append(d.Reports, k.String()+" was not made here: left alone")
		}
	}
}
