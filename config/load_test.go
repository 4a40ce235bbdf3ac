package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every environment file of the project is without a problem.
func TestStacksLoad(t *testing.T) {
	files, err := filepath.Glob("../stacks/Pulumi.*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no stack files", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		env, report := Load(file, content)
		if env == nil || len(report.Problems) > 0 {
			t.Errorf("%s", report)
		}
	}
}

// A copied file that keeps the name of the first would make its stack the
// second owner of everything that the first has.
func TestNameOfFile(t *testing.T) {
	for file, want := range map[string]string{
		"stacks/Pulumi.sample.yaml": "",
		"sample.yaml":               "",
		"Pulumi.yaml":               "",
		"stacks/Pulumi.mine.yaml": `stacks/Pulumi.mine.yaml:3:11: name: "sample" is not the name of the file
    3 |     name: sample
      |           ^
  hint: write name: mine, or call the file Pulumi.sample.yaml

1 problem, 0 warnings
`,
		"/elsewhere/Pulumi.My.Env.yaml": `/elsewhere/Pulumi.My.Env.yaml:3:11: name: "sample" is not the name of the file
    3 |     name: sample
      |           ^
  hint: call the file Pulumi.sample.yaml

1 problem, 0 warnings
`,
	} {
		if _, report := Load(file, []byte(base)); report.String() != want {
			t.Errorf("%s:\n%s\nwant:\n%s", file, report, want)
		}
	}
	unnamed := strings.Replace(base, "name: sample", `name: ""`, 1)
	if _, report := Load("Pulumi.mine.yaml", []byte(unnamed)); strings.Contains(report.String(), "the name of the file") {
		t.Errorf("without a name:\n%s", report)
	}
}
