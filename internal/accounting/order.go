package accounting

import (
	"fmt"
	"slices"
)

// accountsByDepth orders the declared accounts parents first.
func (d *differ) accountsByDepth() ([]Key, error) {
	depth := map[Key]int{}
	var of func(k Key, below int) (int, error)
	of = func(k Key, below int) (int, error) {
		if below > len(d.want) {
			return 0, fmt.Errorf("%s is its own ancestor", k)
		}
		if n, done := depth[k]; done {
			return n, nil
		}
		want, declared := d.want[k]
		if !declared {
			return 0, nil
		}
		parent, _ := want.value(FieldParent, true)
		n, err := of(Key{Kind: KindAccount, Name: parent}, below+1)
		depth[k] = n + 1
		return n + 1, err
	}
	keys := keysOf(d.want, KindAccount)
	for _, k := range keys {
		if _, err := of(k, 0); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(keys, func(a, b Key) int { return depth[a] - depth[b] })
	return keys, nil
}

// associationsInOrder puts a user's default account first: it is what Slurm makes
// the default when the user is made.
func (d *differ) associationsInOrder() []Key {
	keys := keysOf(d.want, KindAssociation)
	late := func(k Key) int {
		if d.want[Key{Kind: KindUser, Name: k.Name}].stated[FieldDefaultAccount] == k.Account {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(keys, func(a, b Key) int {
		if a.Name != b.Name {
			return 0
		}
		return late(a) - late(b)
	})
	return keys
}

// removedAccounts are the accounts of ours that are no longer declared, children
// first.
func (d *differ) removedAccounts() []Key {
	var keys []Key
	depth := map[Key]int{}
	for _, k := range keysOf(d.have.Entities, KindAccount) {
		if d.goes(k) {
			keys = append(keys, k)
			depth[k] = d.depthNow(k)
		}
	}
	slices.SortStableFunc(keys, func(a, b Key) int { return depth[b] - depth[a] })
	return keys
}

// depthNow is how far below root the database has an account.
func (d *differ) depthNow(k Key) int {
	n := 0
	for ; d.have.has(k) && k.Name != "root" && n <= len(d.have.Entities); n++ {
		k = Key{Kind: KindAccount, Name: d.have.Entities[k][FieldParent]}
	}
	return n
}
