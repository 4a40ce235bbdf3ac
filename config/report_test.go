package config

import (
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
