package config

import (
	"fmt"
	"strings"
	"testing"
)

// base is a good environment; tests change lines of it.
const base = `config:
  gpucluster:environment:
    name: sample
    scheduler: slurm
    lab: {}
    profiles:
      p: {sockets: 1, coresPerSocket: 2, memory: 4GiB}
    hosts:
      - names: gpu[1-2]
        profile: p
        roles: [compute]
      - {names: ctl1, profile: p, roles: [controller]}
    slurm:
      version: "24.11"
      partitions:
        - {name: train, hosts: "gpu[1-2]", default: true}
`

// A caret stands under the very byte that is wrong, however the value is
// written.
func TestCaret(t *testing.T) {
	for name, c := range map[string]struct {
		line, instead string
		column        int
		snippet       string
	}{
		"plain":              {`hosts: "gpu[1-2]"`, `hosts: "gpu[1-x]"`, 0, ""},
		"double quotes":      {"names: gpu[1-2]", `names: "gpu[1-2],gpu[3-"`, 29, `      - names: "gpu[1-2],gpu[3-"`},
		"single quotes":      {"names: gpu[1-2]", `names: 'gpu[1-2],gpu[3-'`, 29, `      - names: 'gpu[1-2],gpu[3-'`},
		"an escape before":   {"names: gpu[1-2]", `names: "gpu[1\x2d2],gpu[3-"`, 16, `      - names: "gpu[1\x2d2],gpu[3-"`},
		"folded over lines":  {"names: gpu[1-2]", "names: >\n          gpu[1-2],gpu[3-", 16, "      - names: >"},
		"a wide character":   {"names: gpu[1-2]", `names: gpu[1-2],é[3-4]`, 25, `      - names: gpu[1-2],é[3-4]`},
		"carriage returns":   {"names: gpu[1-2]", "names: gpu[1-2],gpu[4-3]\r", 29, "      - names: gpu[1-2],gpu[4-3]"},
		"a comment after it": {"names: gpu[1-2]", "names: gpu[4-3] # four", 20, "      - names: gpu[4-3] # four"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(base, c.line, c.instead, 1)
			env, report := Load("f.yaml", []byte(text))
			if env != nil {
				t.Fatal("nothing is wrong")
			}
			if c.column == 0 {
				return
			}
			if p := report.Problems[0]; p.Line != 9 || p.Column != c.column {
				t.Errorf("%s, want 9:%d", p, c.column)
			}
			caret := "    9 | " + c.snippet + "\n      | " + strings.Repeat(" ", c.column-1) + "^\n"
			if !strings.Contains(report.String(), caret) {
				t.Errorf("got\n%s\nwant\n%s", report, caret)
			}
		})
	}
}

// No line that may hold a secret is shown, whatever else is wrong there.
func TestSecretsAreNotShown(t *testing.T) {
	for name, instead := range map[string]string{
		"clear text":            "version: \"24.11\"\n      mungeKey: canary",
		"over several lines":    "version: \"24.11\"\n      mungeKey: |\n        canary\n        canary",
		"beside another error":  "version: \"24.11\"\n      database: {mariadb: {host: h, port: x, password: canary}}",
		"in quotes, folded":     "version: \"24.11\"\n      database:\n        mariadb: {host: h, password: \"can\n          canary\", port: x}",
		"under a wrong key":     "version: \"24.11\"\n      mungKey: canary",
		"wrong key, in a flow":  "version: \"24.11\"\n      database: {mariadb: {host: h, pasword: canary}}",
		"wrong key, quoted":     "version: \"24.11\"\n      \"mungKey\": canary",
		"key given twice":       "version: \"24.11\"\n      mungeKey: {secure: v1:x}\n      mungeKey: canary",
		"list":                  "version: \"24.11\"\n      mungeKey: [canary]",
		"mapping of clear text": "version: \"24.11\"\n      mungeKey: {value: canary}",
		"secure without value":  "version: \"24.11\"\n      mungeKey: {secure: [canary]}",
		"key of the project":    "version: \"24.11\"\n  gpucluster:mungeKey: canary",
		"broken file":           "version: \"24.11\"\n      mungeKey: \"canary",
	} {
		t.Run(name, func(t *testing.T) {
			env, report := Load("f.yaml", []byte(strings.Replace(base, `version: "24.11"`, instead, 1)))
			if env != nil || !report.Failed() {
				t.Fatal("nothing is wrong")
			}
			if strings.Contains(report.String(), "canary") {
				t.Errorf("shown:\n%s", report)
			}
		})
	}
}

func TestReportCounts(t *testing.T) {
	text := strings.Replace(base, "profiles:", "profiles:\n      unused: {sockets: 9, coresPerSocket: 1, memory: 4GiB}", 1)
	env, report := Load("f.yaml", []byte(text))
	if env == nil || report.Err() != nil || report.Failed() || len(report.Warnings()) != 2 || len(report.Errors()) != 0 {
		t.Fatalf("got %v", report)
	}
	if got := report.Error(); !strings.HasSuffix(got, "\n0 problems, 2 warnings\n") || !strings.Contains(got, ": warning: profiles.unused: ") {
		t.Errorf("got\n%s", got)
	}
	if _, report := Load("f.yaml", []byte(base)); report.String() != "" {
		t.Errorf("a report about nothing:\n%s", report)
	}
}

// A long line is shown as far as it matters, and endless problems are counted.
func TestLongReports(t *testing.T) {
	hosts := "gpu[1-2]"
	for i := range 5000 {
		hosts += fmt.Sprintf(",ghost%d", i)
	}
	_, report := Load("f.yaml", []byte(strings.Replace(base, `"gpu[1-2]"`, `"`+hosts+`"`, 1)))
	if !report.Failed() {
		t.Fatal("hosts that are not there are accepted")
	}
	for line := range strings.Lines(report.String()) {
		if len(line) > 2*widest {
			t.Fatalf("a line of %d bytes: %.80s", len(line), line)
		}
	}
	many := strings.Replace(base, "    hosts:\n", "    hosts:\n"+strings.Repeat("      - {names: x, profile: nowhere}\n", 1000), 1)
	_, report = Load("f.yaml", []byte(many))
	text := report.String()
	if shown := strings.Count(text, " | ") / 2; shown > longest || !strings.Contains(text, " more problems\n") {
		t.Errorf("%d problems are shown:\n%.2000s", shown, text)
	}
	for name, c := range map[string]struct {
		line   string
		column int
		want   string
		at     int
	}{
		"short":            {"abc", 2, "abc", 2},
		"at the beginning": {strings.Repeat("x", 500), 1, strings.Repeat("x", widest) + "...", 1},
		"at the end":       {strings.Repeat("x", 499) + "y", 500, "..." + strings.Repeat("x", widest-1) + "y", widest + 3},
		"behind the end":   {strings.Repeat("x", 500), 501, "..." + strings.Repeat("x", widest), widest + 4},
		"in the middle":    {strings.Repeat("x", 250) + "y" + strings.Repeat("z", 250), 251, "..." + strings.Repeat("x", widest/2-1) + "y" + strings.Repeat("z", widest/2) + "...", widest/2 + 3},
	} {
		if got, at := window(c.line, c.column); got != c.want || at != c.at {
			t.Errorf("%s: %q at %d, want %q at %d", name, got, at, c.want, c.at)
		}
	}
}
