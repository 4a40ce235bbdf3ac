package accounting

import (
	"cmp"
	"slices"
)

// Kind is a kind of entity of the database.
type Kind string

// The kinds of entities.
const (
	// KindQOS is a quality of service.
	KindQOS Kind = "qos"
	// KindAccount is an account's place in this cluster.
	KindAccount Kind = "account"
	// KindBank is an account by itself; clusters of one database share it.
	KindBank Kind = "bankAccount"
	// KindUser is a user; clusters of one database share it.
	KindUser Kind = "user"
	// KindAssociation is a user's right to charge an account in this cluster.
	KindAssociation Kind = "association"
)

// Key names an entity.
type Key struct {
	// Kind of the entity.
	Kind Kind
	// Name of the QOS, the account or the user.
	Name string
	// Account of an association.
	Account string
}

// String writes the key for a person: "qos urgent", "user alice in account research".
func (k Key) String() string {
	if k.Kind == KindAssociation {
		return "user " + k.Name + " in account " + k.Account
	}
	if k.Kind == KindBank {
		return "account " + k.Name
	}
	return string(k.Kind) + " " + k.Name
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Account, b.Account))
}

// Entity is one entity with its fields.
type Entity struct {
	Key
	// Fields that are stated, as text that [Canonical] accepts. A field that
	// is left out has Slurm's default where the entity is ours.
	Fields map[Field]string
}

// Desired is what an environment declares.
type Desired struct {
	// Cluster is its name in the database.
	Cluster string
	// Entities in any order: qualities of service, accounts (KindAccount, with
	// FieldParent), users and associations. Each user has an association.
	Entities []Entity
}

// canonical returns the entities with lower-case names and canonical fields,
// sorted; Slurm folds names the same way.
func (d Desired) canonical() (map[Key]map[Field]string, error) {
	all := map[Key]map[Field]string{}
	for _, e := range d.Entities {
		fields := map[Field]string{}
		for f, v := range e.Fields {
			c, err := Canonical(f, v)
			if err != nil {
				return nil, err
			}
			fields[f] = c
		}
		all[folded(e.Key)] = fields
	}
	return all, nil
}

// keysOf returns the keys of one kind, sorted.
func keysOf[V any](all map[Key]V, kind Kind) []Key {
	var keys []Key
	for k := range all {
		if k.Kind == kind {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}
