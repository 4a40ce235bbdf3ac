package accounting

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

func TestLedgerKeepsEveryKind(t *testing.T) {
	keys := []Key{k(KindAccount, "a", ""), k(KindAssociation, "u", "a"), k(KindBank, "a", ""), k(KindQOS, "q", ""), k(KindUser, "u", "")}
	l := NewLedger("test", keys...)
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"cluster":"test","made":{"account":["a"],"association":["a/u"],"bankAccount":["a"],"qos":["q"],"user":["u"]}}`
	if string(data) != want {
		t.Errorf("written as %s, want %s", data, want)
	}
	var back Ledger
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !back.Has(key) {
			t.Errorf("%s is lost", key)
		}
	}
	if less := back.with(nil, keys[:1]); less.Has(keys[0]) || !back.Has(keys[0]) {
		t.Error("dropping a key changed the wrong ledger")
	}
}

func TestReadLedger(t *testing.T) {
	answer := func(text string) shell.Runner {
		return shell.RunnerFunc(func(context.Context, string, []byte) ([]byte, error) { return []byte(text), nil })
	}
	cases := map[string]struct {
		file  string
		wrong string
	}{
		"none":             {file: ""},
		"empty":            {file: `{"cluster":"test","made":{}}`},
		"cut off":          {file: `{"cluster":"test","ma`, wrong: "unexpected end"},
		"other cluster":    {file: `{"cluster":"prod","made":{}}`, wrong: `is about cluster "prod"`},
		"unknown kind":     {file: `{"cluster":"test","made":{"wckey":["x"]}}`, wrong: "unknown kind"},
		"unknown field":    {file: `{"cluster":"test","version":9}`, wrong: "unknown field"},
		"half association": {file: `{"cluster":"test","made":{"association":["alice"]}}`, wrong: "has no account"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l, err := ReadLedger(context.Background(), Keepers{answer(c.file)}, "test")
			switch {
			case c.wrong == "" && (err != nil || len(l.Keys()) != 0):
				t.Errorf("got %v, %v", l.Keys(), err)
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
				t.Errorf("got error %v, want one with %q", err, c.wrong)
			}
		})
	}
}

// keeper is a controller with a copy of the ledger, which may be out of reach.
type keeper struct {
	copy []byte
	away bool
}

func (k *keeper) Run(_ context.Context, command string, stdin []byte) ([]byte, error) {
	if k.away {
		return nil, errors.New("no route to host")
	}
	if strings.Contains(command, "mv -f") {
		k.copy = stdin
		return nil, nil
	}
	return k.copy, nil
}

// TestEveryControllerKeepsTheLedger checks that neither another order of the
// controllers nor one that was away makes what is ours somebody else's.
func TestEveryControllerKeepsTheLedger(t *testing.T) {
	ctx := context.Background()
	one, two := &keeper{}, &keeper{}
	l := NewLedger("test", k(KindQOS, "a", ""))
	if err := l.Write(ctx, Keepers{one, two}); err != nil {
		t.Fatal(err)
	}
	two.away = true
	l = l.with([]Key{k(KindQOS, "b", "")}, []Key{k(KindQOS, "a", "")})
	if err := l.Write(ctx, Keepers{two, one}); err != nil {
		t.Fatal(err)
	}
	two.away = false
	for name, all := range map[string]Keepers{"in order": {one, two}, "in another order": {two, one}, "a new one first": {&keeper{}, two, one}, "one is away": {&keeper{away: true}, one}} {
		got, err := ReadLedger(ctx, all, "test")
		if err != nil || got.Has(k(KindQOS, "a", "")) || !got.Has(k(KindQOS, "b", "")) {
			t.Errorf("%s: %v, %v, want b alone", name, got.Keys(), err)
		}
	}
	one.away, two.away = true, true
	if _, err := ReadLedger(ctx, Keepers{one, two}, "test"); err == nil {
		t.Error("no controller can be reached, and the ledger is taken for an empty one")
	}
	if err := l.Write(ctx, Keepers{one, two}); err == nil {
		t.Error("no controller can be reached, and the ledger is taken for written")
	}
}

func TestDesiredAsJSON(t *testing.T) {
	d := Desired{Cluster: "test", Entities: []Entity{
		{Key: k(KindQOS, "fast", ""), Fields: map[Field]string{FieldPriority: "5"}, Initial: map[Field]string{FieldDescription: "fast"}},
		{Key: k(KindAccount, "a", "")},
		{Key: k(KindUser, "u", "")},
		{Key: k(KindAssociation, "u", "a"), Fields: map[Field]string{FieldMaxJobs: "4"}},
	}}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"cluster":"test","qos":{"fast":{"set":{"Priority":"5"},"initial":{"Description":"fast"}}},"accounts":{"a":{}},` +
		`"users":{"u":{}},"associations":{"a/u":{"set":{"MaxJobs":"4"}}}}`
	if string(data) != want {
		t.Errorf("written as %s, want %s", data, want)
	}
	var back Desired
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || string(again) != want {
		t.Errorf("read back as %s (%v)", again, err)
	}
	for _, bad := range []string{`{"cluster":1}`, `{"wckeys":{}}`, `{"associations":{"alice":{}}}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	if _, err := json.Marshal(Desired{Entities: []Entity{{Key: k(KindBank, "a", "")}}}); err == nil {
		t.Error("an account of the database by itself was accepted")
	}
}
