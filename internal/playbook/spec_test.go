package playbook

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/ansible"
)

func TestCheckOfVariables(t *testing.T) {
	compute := map[string]any{"slurm_packages_version": "24.11", "munge_key": "a2V5", "slurm_compute_conf_servers": []any{"ctl1"}}
	cases := map[string]struct {
		book  Playbook
		given string // JSON merged over compute's
		want  []string
	}{
		"complete":                      {book: Compute},
		"unknown":                       {book: Compute, given: `{"slurm_compute_spool": "/x"}`, want: []string{"variable slurm_compute_spool is declared by no role"}},
		"wrong type":                    {book: Compute, given: `{"slurm_packages_uid": "64030"}`, want: []string{"variable slurm_packages_uid is a str; it takes a int"}},
		"not whole":                     {book: Compute, given: `{"slurm_packages_uid": 1.5}`, want: []string{"variable slurm_packages_uid is a number; it takes a int"}},
		"not a choice":                  {book: Compute, given: `{"slurm_packages_version": "23.02"}`, want: []string{"variable slurm_packages_version is 23.02; it takes 22.05, 24.11, 26.05"}},
		"wrong element":                 {book: Compute, given: `{"slurm_compute_conf_servers": ["ctl1", 7]}`, want: []string{"variable slurm_compute_conf_servers has an element 1 that is a number"}},
		"several at once":               {book: Compute, given: `{"one": 1, "two": 2}`, want: []string{"variable one ", "variable two "}},
		"secret of the wrong type":      {book: Compute, given: `{"munge_key": ["canary"]}`, want: []string{"variable munge_key is a list; it takes a str"}},
		"missing":                       {book: Login, given: `{"slurm_compute_conf_servers": null}`, want: []string{"slurm_compute_conf_servers is declared by no role"}},
		"removal passes over the rest":  {book: ComputeRemove, given: `{"from_another_release": true}`},
		"removal still looks at types":  {book: ComputeRemove, given: `{"slurm_compute_mask": "yes"}`, want: []string{"variable slurm_compute_mask is a str; it takes a bool"}},
		"option of another entry point": {book: ComputeRemove, given: `{"slurm_compute_options": "-v"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			vars := map[string]any{}
			for k, v := range compute {
				vars[k] = v
			}
			if c.given != "" {
				if err := json.Unmarshal([]byte(c.given), &vars); err != nil {
					t.Fatal(err)
				}
			}
			err := c.book.check(vars)
			if len(c.want) == 0 {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the report lacks %q: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the report shows a value: %v", err)
			}
		})
	}
}

func TestCheckNamesEveryMissingVariable(t *testing.T) {
	err := Compute.check(map[string]any{})
	for _, want := range []string{"slurm_packages_version of role slurm_packages is missing", "munge_key of role munge is missing", "slurm_compute_conf_servers of role slurm_compute is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the report lacks %q: %v", want, err)
		}
	}
	// MariaDB may be somewhere else: its role's variables are then not needed.
	err = Database.check(map[string]any{"slurm_packages_version": "24.11", "munge_key": "k", "slurm_database_conf": "c", "database_is_local": false})
	if err != nil {
		t.Errorf("a database elsewhere is refused: %v", err)
	}
}

// Every playbook of the tree has a name here, and the other way round.
func TestEveryPlaybookIsNamed(t *testing.T) {
	named := map[Playbook]bool{Baseline: true, SharedHome: true, Database: true, Controller: true, Login: true, Compute: true,
		BaselineRemove:   true,
		SharedHomeRemove: true, DatabaseRemove: true, ControllerRemove: true, LoginRemove: true, ComputeRemove: true,
		KubernetesNode: true, KubernetesControlPlane: true, KubernetesWorker: true, KubernetesRemove: true}
	entries, err := fs.ReadDir(ansible.FS, "playbooks")
	if err != nil {
		t.Fatal(err)
	}
	found := map[Playbook]bool{}
	for _, e := range entries {
		found[Playbook(strings.TrimSuffix(e.Name(), ".yml"))] = true
	}
	for p := range found {
		if !named[p] {
			t.Errorf("playbook %s has no constant", p)
		}
	}
	for p := range named {
		if !found[p] {
			t.Errorf("there is no playbook %s", p)
			continue
		}
		roles, _, err := p.uses()
		if err != nil || len(roles) == 0 {
			t.Errorf("playbook %s: roles %v, %v", p, roles, err)
		}
		for _, use := range roles {
			if _, _, err := use.options(); err != nil {
				t.Errorf("playbook %s: %v", p, err)
			}
		}
	}
}

func TestDigest(t *testing.T) {
	first, again := Digest(Compute), Digest(Compute)
	if first != again || len(first) != 16 {
		t.Errorf("the digest is not stable: %s, %s", first, again)
	}
	if Digest(Compute) == Digest(Login) || Digest(Compute) == Digest(Compute, Login) {
		t.Error("different playbooks have the same digest")
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown playbook has a digest")
		}
	}()
	Digest("compuet")
}

// A text that looks like a template reaches the role as it is.
func TestLiteral(t *testing.T) {
	files, err := encode(BaselineRemove, Request{Vars: map[string]any{"a": "x{{ y }}", "b": []string{"{% z %}", "plain"}, "c": map[string]any{"d": "{# e #}", "f": 20001}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"__ansible_unsafe":"x{{ y }}"},"b":[{"__ansible_unsafe":"{% z %}"},"plain"],"c":{"d":{"__ansible_unsafe":"{# e #}"},"f":20001}}`
	if got := string(files["vars.json"]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
