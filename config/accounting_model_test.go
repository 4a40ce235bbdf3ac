package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/accounting"
)

// TestAccountingModel pins what the environments of stacks/ declare for the
// accounting database.
func TestAccountingModel(t *testing.T) {
	stacks, err := filepath.Glob("../stacks/Pulumi.*.yaml")
	if err != nil || len(stacks) == 0 {
		t.Fatalf("no environments: %v", err)
	}
	for _, stack := range stacks {
		t.Run(filepath.Base(stack), func(t *testing.T) {
			content, err := os.ReadFile(stack)
			if err != nil {
				t.Fatal(err)
			}
			env, _ := Load(stack, content)
			if env == nil || env.Slurm == nil {
				t.Skip("skipped: no Slurm in this environment")
			}
			got, err := json.MarshalIndent(env.Accounting(), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "accounting", filepath.Base(stack)+".json")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got)+"\n" != string(want) {
				t.Errorf("declares\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAccountingModelStatesOnlyWhatDiffers(t *testing.T) {
	env := Environment{Name: "Lab", Slurm: &Slurm{
		QOS:      []QOS{{Name: "normal"}, {Name: "fast", Priority: 5, Preempts: []string{"normal"}, Limits: Limits{MaxJobs: 3}}},
		Accounts: []Account{{Name: "a"}, {Name: "b", Parent: "a", Limits: Limits{GrpTRES: map[string]int64{"gres/gpu": 8, "cpu": 4}, MaxJobs: 2}}},
		Associations: []Association{
			{User: "u", Account: "a", AdminLevel: "operator"},
			{User: "u", Account: "b", Default: true, Limits: Limits{MaxJobs: 1}},
		},
	}}
	env.SetDefaults()
	d := env.Accounting()
	stated := map[accounting.Key]map[accounting.Field]string{}
	for _, e := range d.Entities {
		stated[e.Key] = e.Fields
	}
	type fields = map[accounting.Field]string
	want := map[accounting.Key]fields{
		{Kind: accounting.KindQOS, Name: "normal"}: nil,
		{Kind: accounting.KindQOS, Name: "fast"}: {accounting.FieldPriority: "5",
			accounting.FieldPreempt: "normal", accounting.FieldGrpJobs: "3"},
		{Kind: accounting.KindAccount, Name: "a"}: nil,
		{Kind: accounting.KindAccount, Name: "b"}: {accounting.FieldParent: "a",
			accounting.FieldGrpTRES: "cpu=4,gres/gpu=8", accounting.FieldGrpJobs: "2"},
		{Kind: accounting.KindAssociation, Name: "u", Account: "a"}: nil,
		{Kind: accounting.KindAssociation, Name: "u", Account: "b"}: {accounting.FieldMaxJobs: "1"},
		{Kind: accounting.KindUser, Name: "u"}:                      {accounting.FieldDefaultAccount: "b", accounting.FieldAdminLevel: "operator"},
	}
	if len(stated) != len(want) {
		t.Errorf("declares %d entities, want %d", len(stated), len(want))
	}
	for key, fields := range want {
		got := stated[key]
		if len(got) != len(fields) {
			t.Errorf("%s states %v, want %v", key, got, fields)
		}
		for f, v := range fields {
			if got[f] != v {
				t.Errorf("%s: %s is %q, want %q", key, f, got[f], v)
			}
		}
	}
}
