package accounting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// desiredFile is a declaration as JSON: entities by name, so that a change of one
// reads as one in a plan, whatever the order in the environment.
type desiredFile struct {
	Cluster      string                `json:"cluster"`
	QOS          map[string]entityFile `json:"qos,omitempty"`
	Accounts     map[string]entityFile `json:"accounts,omitempty"`
	Users        map[string]entityFile `json:"users,omitempty"`
	Associations map[string]entityFile `json:"associations,omitempty"` // account/user
}

// entityFile holds the stated fields by name, and the initial ones apart.
type entityFile struct {
	Set     map[Field]string `json:"set,omitempty"`
	Initial map[Field]string `json:"initial,omitempty"`
}

// section of the file that holds a kind; nil for a kind that is not declared.
func (f *desiredFile) section(kind Kind) *map[string]entityFile {
	switch kind {
	case KindQOS:
		return &f.QOS
	case KindAccount:
		return &f.Accounts
	case KindUser:
		return &f.Users
	case KindAssociation:
		return &f.Associations
	}
	return nil
}

// MarshalJSON writes the declaration with entities by name.
func (d Desired) MarshalJSON() ([]byte, error) {
	f := desiredFile{Cluster: d.Cluster}
	for _, e := range d.Entities {
		section := f.section(e.Kind)
		if section == nil {
			return nil, fmt.Errorf("%s cannot be declared", e.Key)
		}
		if *section == nil {
			*section = map[string]entityFile{}
		}
		name := e.Name
		if e.Kind == KindAssociation {
			name = e.Account + "/" + e.Name
		}
		(*section)[name] = entityFile{Set: e.Fields, Initial: e.Initial}
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON wrote, strictly.
func (d *Desired) UnmarshalJSON(data []byte) error {
	var f desiredFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return err
	}
	*d = Desired{Cluster: f.Cluster}
	for _, kind := range []Kind{KindQOS, KindAccount, KindUser, KindAssociation} {
		for name, e := range *f.section(kind) {
			key := Key{Kind: kind, Name: name}
			if kind == KindAssociation {
				var ok bool
				if key.Account, key.Name, ok = strings.Cut(name, "/"); !ok {
					return fmt.Errorf("association %q has no account", name)
				}
			}
			d.Entities = append(d.Entities, Entity{Key: key, Fields: e.Set, Initial: e.Initial})
		}
	}
	return nil
}
