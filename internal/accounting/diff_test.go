package accounting

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// answers are what sacctmgr would print for a small database: qos, accounts and
// associations as rows of this package's questions.
func answers(t *testing.T, qos, accounts, users, assocs string) Observed {
	t.Helper()
	var desc, org []string
	for _, a := range strings.Fields(accounts) {
		desc, org = append(desc, a+"|"+a), append(org, a+"|root")
	}
	parts := []string{"", "test", "cpu|\ngres|gpu", qos, strings.Join(desc, "\n"), strings.Join(org, "\n"), users, assocs}
	o, err := Parse("test", strings.Join(parts, "\n"+mark+"\n")+"\n")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const (
	normalQOS = "normal|0||cluster|00:00:00|1.000000|||||||||Normal QOS default"
	rootAssoc = "test|root||||1|normal||||||||\ntest|root|root|||1|||||||||"
)

func k(kind Kind, name, account string) Key { return Key{Kind: kind, Name: name, Account: account} }

func e(key Key, fields map[Field]string) Entity { return Entity{Key: key, Fields: fields} }

func texts(commands []Command) string {
	var lines []string
	for _, c := range commands {
		lines = append(lines, strings.Join(c.Args, " "))
	}
	return strings.Join(lines, "\n")
}

func TestDiff(t *testing.T) {
	empty := answers(t, normalQOS, "root", "root|root|Administrator", rootAssoc)
	full := answers(t, normalQOS+"\nfast|5||cluster|00:00:00|1.000000|||||||||fast", "root research team",
		"root|root|Administrator\nalice|team|None",
		rootAssoc+"\ntest|research|||root|1|||||||||\ntest|team|||research|1|||||||||\ntest|team|alice|||1|||||||||")
	all := NewLedger("test", k(KindQOS, "fast", ""), k(KindAccount, "research", ""), k(KindBank, "research", ""),
		k(KindAccount, "team", ""), k(KindBank, "team", ""), k(KindUser, "alice", ""), k(KindAssociation, "alice", "team"))
	declared := []Entity{
		e(k(KindQOS, "Fast", ""), map[Field]string{FieldPriority: "5"}),
		e(k(KindAccount, "team", ""), map[Field]string{FieldParent: "research"}),
		e(k(KindAccount, "research", ""), nil),
		e(k(KindAssociation, "alice", "team"), nil),
		e(k(KindUser, "alice", ""), map[Field]string{FieldDefaultAccount: "team"}),
	}

	cases := map[string]struct {
		want     []Entity
		have     Observed
		owned    Ledger
		commands string
		removals string
		record   int
		reports  string
	}{
		"all is made, what is referred to first": {
			want: declared, have: empty, owned: NewLedger("test"), record: 7,
			commands: `add qos fast set priority=5
add account research cluster=test
add account team cluster=test parent=research
add user alice cluster=test account=team`,
		},
		"all is there": {want: declared, have: full, owned: all},
		"what is recorded and missing is made again": {
			want: declared, have: empty, owned: all,
			commands: `add qos fast set priority=5
add account research cluster=test
add account team cluster=test parent=research
add user alice cluster=test account=team`,
		},
		"all goes, what refers first": {
			have: full, owned: all,
			removals: `delete user where name=alice account=team cluster=test
delete user where name=alice
delete account where name=team cluster=test
delete account where name=team
delete account where name=research cluster=test
delete account where name=research
delete qos where name=fast`,
		},
		"nothing of others goes": {
			have: full, owned: NewLedger("test"),
			reports: `account research was not made here: left alone
account team was not made here: left alone
qos fast was not made here: left alone
user alice in account team was not made here: left alone`,
		},
		"an account with others in it stays": {
			have: full, owned: NewLedger("test", k(KindAccount, "research", ""), k(KindAccount, "team", "")),
			reports: `account research is no longer declared, but stays: account team is in it and not made here
account team is no longer declared, but stays: user alice is in it and not made here
qos fast was not made here: left alone
user alice in account team was not made here: left alone`,
		},
		"a child that moves away lets its parent go": {
			want: []Entity{e(k(KindAccount, "team", ""), nil), declared[3]}, have: full, owned: all,
			commands: "modify account where name=team cluster=test set parent=root",
			removals: `delete account where name=research cluster=test
delete account where name=research
delete qos where name=fast`,
		},
		"drift of ours is repaired": {
			want: declared, owned: all,
			have: answers(t, normalQOS+"\nfast|6||requeue|00:00:00|1.000000||cpu=4|||||||fast", "root research team",
				"root|root|Administrator\nalice|team|Operator",
				rootAssoc+"\ntest|research|||root|1|||||||||\ntest|team|||root|3|||||||||\ntest|team|alice|||1|||||4||||"),
			commands: `modify qos where name=fast set priority=5 preemptmode=cluster grptres=cpu=-1
modify account where name=team cluster=test set parent=research fairshare=1
modify user where name=alice set adminlevel=none`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Diff(Desired{Cluster: "test", Entities: c.want}, c.have, c.owned)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(p.Commands); got != c.commands {
				t.Errorf("commands:\n%s\nwant:\n%s", got, c.commands)
			}
			var removals []string
			for _, r := range p.Removals {
				removals = append(removals, strings.Join(r.Delete.Args, " "))
			}
			if got := strings.Join(removals, "\n"); got != c.removals {
				t.Errorf("removals:\n%s\nwant:\n%s", got, c.removals)
			}
			if len(p.Record) != c.record {
				t.Errorf("records %v, want %d", p.Record, c.record)
			}
			if got := strings.Join(p.Reports, "\n"); got != c.reports {
				t.Errorf("reports:\n%s\nwant:\n%s", got, c.reports)
			}
		})
	}
}

func TestDiffIsTheSameEachTime(t *testing.T) {
	have := answers(t, normalQOS, "root", "", rootAssoc)
	var want []Entity
	for _, name := range []string{"e", "b", "d", "a", "c"} {
		want = append(want, e(k(KindAccount, name, ""), nil), e(k(KindQOS, "q"+name, ""), nil), e(k(KindAssociation, "u", name), nil))
	}
	first := ""
	for range 20 {
		p, err := Diff(Desired{Cluster: "test", Entities: want}, have, NewLedger("test"))
		if err != nil {
			t.Fatal(err)
		}
		got := texts(p.Commands)
		if first == "" {
			first = got
		}
		if got != first {
			t.Fatalf("commands in another order:\n%s\nand:\n%s", got, first)
		}
	}
}

func TestDiffRefuses(t *testing.T) {
	have := answers(t, normalQOS, "root", "", rootAssoc)
	t.Run("a resource that the database does not know", func(t *testing.T) {
		_, err := Diff(Desired{Entities: []Entity{e(k(KindAccount, "a", ""), map[Field]string{FieldGrpTRES: "gres/nic=1,cpu=2"})}}, have, NewLedger("test"))
		var unknown *UnknownTRES
		if !errors.As(err, &unknown) || strings.Join(unknown.Names, ",") != "gres/nic" {
			t.Errorf("got error %v", err)
		}
	})
	t.Run("accounts in a circle", func(t *testing.T) {
		_, err := Diff(Desired{Entities: []Entity{
			e(k(KindAccount, "a", ""), map[Field]string{FieldParent: "b"}),
			e(k(KindAccount, "b", ""), map[Field]string{FieldParent: "a"}),
		}}, have, NewLedger("test"))
		if err == nil {
			t.Error("got no error")
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for name, out := range map[string]string{
		"nothing":    "",
		"one answer": mark + "\ntest\n",
		"a short row": strings.Join([]string{"", "test", "cpu|", "normal|0", "", "", "", ""},
			"\n"+mark+"\n") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if o, err := Parse("test", out); err == nil {
				t.Errorf("got %v, want an error", o)
			}
		})
	}
}

func TestOtherClustersAndPartitionsCountAsElsewhere(t *testing.T) {
	o := answers(t, normalQOS, "root shared", "", rootAssoc+"\nother|shared|||root|1|+Fast,-slow|theirs|||||||\ntest|shared|bob|gpu||1|bound||||||||")
	for _, key := range []Key{
		k(KindBank, "shared", ""), k(KindUser, "bob", ""), k(KindQOS, "fast", ""), k(KindQOS, "slow", ""), k(KindQOS, "theirs", ""), k(KindQOS, "bound", ""),
	} {
		if !o.Elsewhere[key] {
			t.Errorf("%s does not count as used elsewhere", key)
		}
	}
	if o.has(k(KindAccount, "shared", "")) || o.has(k(KindAssociation, "bob", "shared")) {
		t.Error("what is elsewhere counts as this cluster's")
	}
}

// TestAQOSOfAnotherClusterStays checks that a QOS that goes here is neither
// blocked nor deleted while another cluster of the database uses it.
func TestAQOSOfAnotherClusterStays(t *testing.T) {
	for _, used := range []bool{false, true} {
		other := ""
		if used {
			other = "\nother|shared|||root|1|fast||||||||"
		}
		o := answers(t, normalQOS+"\n"+strings.Replace(normalQOS, "normal", "fast", 1), "root", "", rootAssoc+other)
		p, err := Diff(Desired{Cluster: "test"}, o, NewLedger("test", k(KindQOS, "fast", "")))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.Removals) > 0; got == used {
			t.Errorf("used elsewhere %v: removals %v", used, p.Removals)
		}
		if got := strings.Contains(strings.Join(p.Reports, "\n"), "fast is no longer declared, but stays"); got != used {
			t.Errorf("used elsewhere %v: reports %q", used, p.Reports)
		}
		if used && slices.Contains(p.Forget, k(KindQOS, "fast", "")) {
			t.Error("it is forgotten that the QOS was made here")
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(strings.Join([]string{"", "test", "cpu|\ngres|gpu", normalQOS, "root|x", "root|root", "root|root|None", rootAssoc}, "\n"+mark+"\n"))
	f.Fuzz(func(t *testing.T, out string) {
		o, err := Parse("test", out)
		if err != nil {
			return
		}
		// What was read can be compared: no change is found to itself.
		var same []Entity
		var keys []Key
		for key, fields := range o.Entities {
			if key.Kind == KindBank || key.Kind == KindUser || key.Kind == KindQOS && fields[FieldPreempt] != "" {
				continue
			}
			stated := map[Field]string{}
			for field, v := range fields {
				if form := properties[field].form; form != formTime && form != formSpan && field != FieldParent && form != formTRES {
					stated[field] = v
				}
			}
			same = append(same, Entity{Key: key, Fields: stated})
			keys = append(keys, key)
		}
		p, err := Diff(Desired{Cluster: "test", Entities: same}, o, NewLedger("test"))
		if err == nil && len(p.Commands) != 0 {
			t.Errorf("%q: commands %v for what is there (%v)", out, p.Commands, keys)
		}
	})
}
