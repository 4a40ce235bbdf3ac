package accounting

import (
	"cmp"
	"fmt"
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
	// Fields that are stated, as text that [Canonical] accepts.
	Fields map[Field]string
	// Initial are values of fields that are not stated. They hold where the
	// entity is ours; one that existed before keeps its own. A field in neither
	// has Slurm's default where the entity is ours.
	Initial map[Field]string
}

// Desired is what an environment declares.
type Desired struct {
	// Cluster is its name in the database.
	Cluster string
	// Entities in any order: qualities of service, accounts (KindAccount, with
	// FieldParent), users and associations. Each user has an association.
	Entities []Entity
}

// wanted are the canonical fields of a declared entity.
type wanted struct{ stated, initial map[Field]string }

// value of a field, for an entity that is ours or not; ok is false for a field
// that is then left alone.
func (w wanted) value(f Field, ours bool) (v string, ok bool) {
	if v, ok = w.stated[f]; ok || !ours {
		return v, ok
	}
	if v, ok = w.initial[f]; ok {
		return v, ok
	}
	// A text or a default account that nobody states is whatever Slurm chose.
	return properties[f].otherwise, properties[f].form != formText && f != FieldDefaultAccount
}

// canonical returns the entities with lower-case names, as Slurm folds them, and
// canonical fields.
func (d Desired) canonical() (map[Key]wanted, error) {
	all := map[Key]wanted{}
	for _, e := range d.Entities {
		w := wanted{stated: map[Field]string{}, initial: map[Field]string{}}
		for _, part := range []struct{ from, to map[Field]string }{{e.Fields, w.stated}, {e.Initial, w.initial}} {
			for f, v := range part.from {
				c, err := Canonical(f, v)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", e.Key, err)
				}
				part.to[f] = c
			}
		}
		all[folded(e.Key)] = w
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
