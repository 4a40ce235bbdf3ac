package connection

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func TestCheck(t *testing.T) {
	a, b := pulumi.String("a"), pulumi.String("b")
	for name, c := range map[string]struct {
		connections Connections
		want        string
	}{
		"one key":           {Connections{"h1": {Name: "h1", PrivateKey: a}, "h2": {Name: "h2", PrivateKey: a}}, ""},
		"no key":            {Connections{"h1": {Name: "h1"}, "h2": {Name: "h2"}}, ""},
		"known later":       {Connections{"h1": {Name: "h1", PrivateKey: a}, "h2": {Name: "h2", PrivateKey: b.ToStringOutput()}}, ""},
		"a key each":        {Connections{"h1": {Name: "h1", PrivateKey: a}, "h2": {Name: "h2", PrivateKey: b}}, "the connections of one cluster use one private key; h1 and h2 have different ones"},
		"another's name":    {Connections{"h1": {Name: "h2"}}, `the connection of h1 is to a host called "h2"`},
		"no name":           {Connections{"h1": {}}, `the connection of h1 is to a host called ""`},
		"no connection yet": {nil, ""},
	} {
		got := ""
		if err := c.connections.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
