package config

import (
	"maps"
	"os"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The policy that docs/teams.md writes for both schedulers is taken by both.
func TestPolicyOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/teams.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d policies, want 2", len(blocks))
	}
	for i, at := range []struct{ file, section string }{{"lab-kubernetes", "kubernetes"}, {"lab-slurm", "slurm"}} {
		var policy, file map[string]any
		text, err := os.ReadFile("../stacks/Pulumi." + at.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for source, into := range map[string]*map[string]any{string(blocks[i][1]): &policy, string(text): &file} {
			if err := yaml.Unmarshal([]byte(source), into); err != nil {
				t.Fatal(err)
			}
		}
		section := file["config"].(map[string]any)["gpucluster:environment"].(map[string]any)[at.section].(map[string]any)
		maps.Copy(section, policy[at.section].(map[string]any))
		merged, err := yaml.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, report := Load("Pulumi."+at.file+".yaml", merged); len(report.Problems) > 0 {
			t.Errorf("%s: %v", at.file, report)
		}
	}
}
