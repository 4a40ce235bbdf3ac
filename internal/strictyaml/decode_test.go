package strictyaml

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type color string

func (c *color) UnmarshalText(text []byte) error {
	if string(text) != "red" && string(text) != "blue" {
		return &Error{Kind: "odd", What: fmt.Sprintf("%q is no colour", text), Hint: "red or blue"}
	}
	*c = color(text)
	return nil
}

type item struct {
	Name  string   `yaml:"name"`
	Count int      `yaml:"count,omitempty"`
	Tags  []string `yaml:"tags,omitempty"`
	Paint color    `yaml:"paint,omitempty"`
}

type sample struct {
	Title  string                    `yaml:"title"`
	Items  []item                    `yaml:"items,omitempty"`
	On     bool                      `yaml:"on,omitempty"`
	Factor *float64                  `yaml:"factor,omitempty"`
	Rank   *int                      `yaml:"rank,omitempty"`
	Extra  map[string]map[string]int `yaml:"extra,omitempty"`
	Nested *item                     `yaml:"nested,omitempty"`
	Hidden string                    `yaml:"-"`
}

func parse(t testing.TB, text string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

func TestDecodeFills(t *testing.T) {
	var got sample
	index, problems := Decode(parse(t, `
title: "a: b"
items:
  - {name: x, count: 3, tags: [p, q], paint: red}
  - &y {name: y}
on: true
factor: 2
rank: 0
extra: {"slurm.conf": {a: 1}}
nested: *y
`), "", &got)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	two, zero := 2.0, 0
	want := sample{
		Title: "a: b", Items: []item{{Name: "x", Count: 3, Tags: []string{"p", "q"}, Paint: "red"}, {Name: "y"}},
		On: true, Factor: &two, Rank: &zero, Extra: map[string]map[string]int{"slurm.conf": {"a": 1}}, Nested: &item{Name: "y"},
	}
	if !reflect.DeepEqual(got, want) {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		t.Errorf("got  %s\nwant %s", a, b)
	}
	for path, position := range map[string][2]int{
		"items[0].tags[1]": {4, 35}, `extra["slurm.conf"].a`: {9, 27}, "rank": {8, 7}, "nested.name": {5, 15},
	} {
		entry, exact := index.Find(path)
		if !exact || entry.Value.Line != position[0] || entry.Value.Column != position[1] {
			t.Errorf("Find(%s) = %d:%d (exact %v), want %v", path, entry.Value.Line, entry.Value.Column, exact, position)
		}
	}
	if entry, exact := index.Find("items[0].absent"); exact || entry.Value.Line != 4 {
		t.Errorf("an absent key is found at line %d (exact %v), want its item's", entry.Value.Line, exact)
	}
}

func TestDecodeReports(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want []string
	}{
		"all at once": {
			"tittle: x\nitems:\n  - nmae: y\n    count: many\non: 1\n",
			[]string{
				`1:1 tittle unknown-key: unknown key "tittle" (did you mean "title"?)`,
				`3:5 items[0].nmae unknown-key: unknown key "nmae" (did you mean "name"?)`,
				`4:12 items[0].count wrong-type: needs a whole number, found text "many"`,
				`5:5 on wrong-type: needs true or false, found the number 1 (write true or false, without quotes)`,
			},
		},
		"unknown key without a near one": {
			"nested: {name: x, zzz: 1}", []string{`1:19 nested.zzz unknown-key: unknown key "zzz" (known keys: name, count, tags, paint)`},
		},
		"hidden field is no key": {"Hidden: x", []string{`1:1 Hidden unknown-key: unknown key "Hidden" (known keys: title, items, on, factor, rank, extra, nested)`}},
		"duplicate key":          {"title: a\ntitle: b", []string{`2:1 title duplicate: key "title" is given twice, first in line 1 (keep one of them)`}},
		"duplicate key of a map": {"extra: {a: {}, a: {}}", []string{`1:16 extra.a duplicate: key "a" is given twice, first in line 1 (keep one of them)`}},
		"number for text":        {"title: 24.10", []string{`1:8 title wrong-type: needs text, found the number 24.10 (put it in quotes: "24.10")`}},
		"boolean for text":       {"title: true", []string{`1:8 title wrong-type: needs text, found the boolean true (put it in quotes: "true")`}},
		"date for text":          {"title: 2020-01-01", []string{`1:8 title wrong-type: needs text, found the date 2020-01-01 (put it in quotes: "2020-01-01")`}},
		"quoted number":          {`rank: "3"`, []string{`1:7 rank wrong-type: needs a whole number, found text "3" (write the number without quotes)`}},
		"octal":                  {"rank: 010", []string{`1:7 rank invalid: 010 is not a plain decimal number (write digits only, without leading zeros, and not more than fit in 64 bits)`}},
		"hexadecimal":            {"rank: 0x10", []string{`1:7 rank invalid: 0x10 is not a plain decimal number (write digits only, without leading zeros, and not more than fit in 64 bits)`}},
		"too large":              {"rank: 9223372036854775808", []string{`1:7 rank invalid: 9223372036854775808 is not a plain decimal number (write digits only, without leading zeros, and not more than fit in 64 bits)`}},
		"not a number":           {"factor: .nan", []string{`1:9 factor invalid: .nan is not a plain number (write it as 1.5)`}},
		"no value": {"title:\nnested:\nitems:", []string{
			`1:1 title wrong-type: has no value, needs text (write a value, or remove the key)`,
			`2:1 nested wrong-type: has no value, needs a mapping (write {} for the defaults, or remove the key)`,
			`3:1 items wrong-type: has no value, needs a list (write a value, or remove the key)`,
		}},
		"scalar for a list":       {"nested: {tags: fast}", []string{`1:16 nested.tags wrong-type: needs a list, found text "fast" (write a list: [fast])`}},
		"mapping for a list":      {"items: {name: x}", []string{`1:8 items wrong-type: needs a list, found a mapping (begin each item with "- ")`}},
		"list for a mapping":      {"nested: [x]", []string{`1:9 nested wrong-type: needs a mapping, found a list`}},
		"key that is no word":     {"extra: {[a]: {}}", []string{`1:9 extra wrong-type: a key must be a word, found a list`}},
		"type's own error":        {"nested: {paint: grey}", []string{`1:17 nested.paint odd: "grey" is no colour (red or blue)`}},
		"list for a textual type": {"nested: {paint: [red]}", []string{`1:17 nested.paint wrong-type: needs text, found a list`}},
		"merge key":               {"nested: {<<: {name: x}}", []string{`1:10 nested["<<"] unknown-key: unknown key "<<" (merge keys are not read; write the keys out)`}},
		"list at the top":         {"[a]", []string{`1:1  wrong-type: needs a mapping, found a list`}},
	} {
		t.Run(name, func(t *testing.T) {
			var into sample
			_, problems := Decode(parse(t, c.yaml), "", &into)
			var got []string
			for _, p := range problems {
				line := fmt.Sprintf("%d:%d %s %s: %s", p.Line, p.Column, p.Path, p.Kind, p.What)
				if p.Hint != "" {
					line += " (" + p.Hint + ")"
				}
				got = append(got, line)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// A short file whose aliases stand for millions of values must not take long.
func TestDecodeBoundsAliases(t *testing.T) {
	var text strings.Builder
	text.WriteString("extra:\n")
	row := "{"
	for i := range 2000 {
		row += fmt.Sprintf("k%d: %d, ", i, i)
	}
	text.WriteString("  a: &a " + row + "}\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "  b%d: *a\n", i)
	}
	var into sample
	_, problems := Decode(parse(t, text.String()), "", &into)
	if len(problems) != 1 || !strings.Contains(problems[0].What, "stands for more than") {
		t.Errorf("got %v, want one problem about the number of values", problems)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"title: x", "items: [{name: y, tags: [a]}]", "a: &a [*a]", "nested: &n {name: x}\nitems: [*n]", "? [a]\n: b", "extra: {a: {b: 1}}", "- -", "title:", "&a : *a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(text), &document); err != nil || len(document.Content) == 0 {
			t.Skip()
		}
		var into sample
		index, problems := Decode(document.Content[0], "", &into)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.What == "" || p.Kind == "" {
				t.Errorf("a problem without position or text: %+v", p)
			}
		}
		for path, entry := range index {
			if path != "" && !index.Has(Parent(path)) {
				t.Errorf("%q is in the index, its parent %q is not", path, Parent(path))
			}
			if entry.Value == nil {
				t.Errorf("%q has no node", path)
			}
		}
	})
}
