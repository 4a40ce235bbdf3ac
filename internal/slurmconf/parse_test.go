package slurmconf

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		text string
		want string // pairs as Key|Op|Value, lines by ";"
	}{
		"plain":            {"A=1\nB=2\n", "A|=|1;B|=|2"},
		"several":          {"NodeName=n1 CPUs=4  RealMemory=10", "NodeName|=|n1 CPUs|=|4 RealMemory|=|10"},
		"quoted":           {`Reason="out of order" State=DOWN`, "Reason|=|out_of_order State|=|DOWN"},
		"empty in quotes":  {`Nodes="" State=UP`, "Nodes|=| State|=|UP"},
		"comment":          {"# all\nA=1 # rest\n#\n", "A|=|1"},
		"comment escaped":  {`A=x\#1`, "A|=|x#1"},
		"continued":        {"A=1 \\\n B=2\nC=3", "A|=|1 B|=|2;C|=|3"},
		"comment first":    {"A=1 # x \\\nB=2", "A|=|1;B|=|2"},
		"blanks round =":   {"A = 1", "A|=|1"},
		"swallows":         {"Topology= State=UP", "Topology|=|State=UP"},
		"operator":         {"A+=1", "A|+=|1"},
		"carriage return":  {"A=1\r\nB=2\r\n", "A|=|1;B|=|2"},
		"include":          {"Include users.conf", "include users.conf"},
		"quote inside":     {`A="x"y`, `A|=|"x"y`},
		"leading blanks":   {"   A=1", "A|=|1"},
		"value with equal": {"W=CPU=1,Mem=2", "W|=|CPU=1,Mem=2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			lines, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := flat(lines); got != c.want {
				t.Errorf("Parse(%q) = %q; want %q", c.text, got, c.want)
			}
		})
	}
}

func flat(lines []Line) string {
	var out []string
	for _, l := range lines {
		if l.Include != "" {
			out = append(out, "include "+l.Include)
			continue
		}
		var pairs []string
		for _, p := range l.Pairs {
			pairs = append(pairs, p.Key+"|"+p.Op+"|"+strings.ReplaceAll(p.Value, " ", "_"))
		}
		out = append(out, strings.Join(pairs, " "))
	}
	return strings.Join(out, ";")
}

func TestParseErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
		left string
	}{
		"colon":            {"A=1\nAccountingStorageTRES: gres/gpu", 2, "AccountingStorageTRES: gres/gpu"},
		"empty at the end": {"A=1\n\nGres=", 3, "Gres="},
		"blank in a value": {"Reason=out of order", 1, "of order"},
		"truncated line":   {"A=1 \\\nNodeName=n1 ThreadsPer", 1, "ThreadsPer"},
		"prose":            {"<<<<<<< HEAD", 1, "<<<<<<< HEAD"},
		"quote not closed": {`Reason="a b`, 1, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.text)
			var e *ParseError
			if !errors.As(err, &e) || e.Line != c.line || e.Text != c.left {
				t.Errorf("Parse(%q) = %v; want line %d, %q", c.text, err, c.line, c.left)
			}
		})
	}
}

// TestParseGolden: what is rendered is read back, one record a line.
func TestParseBack(t *testing.T) {
	for _, v := range Supported {
		for name, c := range samples(v) {
			set, err := Render(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range set.Files {
				if strings.HasSuffix(f.Name, ".sh") || f.Name == "plugstack.conf" {
					continue
				}
				lines, err := Parse(f.Content)
				if err != nil {
					t.Errorf("%s %s %s: %v", v, name, f.Name, err)
				}
				written := 0
				for _, l := range strings.Split(f.Content, "\n") {
					if l != "" && !strings.HasPrefix(l, "#") {
						written++
					}
				}
				if written != len(lines) {
					t.Errorf("%s %s %s: %d lines written, %d read", v, name, f.Name, written, len(lines))
				}
			}
		}
	}
}

// FuzzParse: what is read once reads the same when written in plain form.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"A=1 B=\"x y\"\n", "A+=1 \\\n#c\nInclude x", `A=\#x`, "A= B=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := Parse(text)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, l := range lines {
			if l.Number < 1 {
				t.Fatalf("line number %d", l.Number)
			}
			for i, p := range l.Pairs {
				if strings.ContainsAny(p.Value, "\"#\\\n") {
					return // cannot be written in plain form
				}
				fmt.Fprintf(&b, "%s%s\"%s\"", strings.Repeat(" ", min(i, 1)), p.Key+p.Op, p.Value)
			}
			if l.Include != "" {
				if strings.ContainsAny(l.Include, "#\\\n") {
					return
				}
				b.WriteString("Include " + l.Include)
			}
			b.WriteByte('\n')
		}
		again, err := Parse(b.String())
		if err != nil {
			t.Fatalf("%q became %q: %v", text, b.String(), err)
		}
		for i := range again {
			again[i].Number = 0
		}
		for i := range lines {
			lines[i].Number = 0
		}
		if !reflect.DeepEqual(again, lines) {
			t.Fatalf("%q: %v; want %v", text, again, lines)
		}
	})
}
