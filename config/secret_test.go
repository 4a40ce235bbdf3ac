package config

import (
	"encoding/json"
	"strings"
	"testing"
)

const withSecrets = `config:
  gpucluster:environment:
    name: sample
    scheduler: slurm
    inventory:
      ssh:
        trustOnFirstUse: true
        privateKey: {secure: v1:abc}
    profiles:
      p: {sockets: 1, coresPerSocket: 2, memory: 4GiB}
    hosts:
      - {names: "ctl1", profile: p, roles: [controller, database, compute]}
    slurm:
      version: "24.11"
      mungeKey:
        secure: v1:def
      database:
        mariadb:
          host: db.example.org
          password: {secure: v1:ghi}
      partitions:
        - {name: all-of-it, hosts: ctl1, default: true}
`

func TestFillSecrets(t *testing.T) {
	env, report := Load("sample.yaml", []byte(withSecrets))
	if env == nil {
		t.Fatal(report)
	}
	if !env.Inventory.SSH.PrivateKey.Set || env.Inventory.SSH.PrivateKey.Value != "" {
		t.Fatalf("after Load: %+v", env.Inventory.SSH.PrivateKey.Set)
	}
	var decrypted any
	err := json.Unmarshal([]byte(`{"inventory":{"ssh":{"privateKey":"canary1"}},"slurm":{"mungeKey":"canary2","database":{"mariadb":{"password":"canary3"}}}}`), &decrypted)
	if err != nil {
		t.Fatal(err)
	}
	if err := FillSecrets(env, decrypted); err != nil {
		t.Fatal(err)
	}
	got := []string{env.Inventory.SSH.PrivateKey.Value, env.Slurm.MungeKey.Value, env.Slurm.Database.MariaDB.Password.Value}
	if strings.Join(got, " ") != "canary1 canary2 canary3" {
		t.Errorf("filled in %q", got)
	}
	if text := asJSON(env); strings.Contains(text, "canary") {
		t.Errorf("the JSON of an environment shows a secret: %s", text)
	}
}

func TestFillSecretsNamesWhatIsMissing(t *testing.T) {
	for name, decrypted := range map[string]any{
		"nothing":         nil,
		"not an object":   "text",
		"another type":    map[string]any{"slurm": map[string]any{"mungeKey": 5}},
		"an empty string": map[string]any{"slurm": map[string]any{"mungeKey": ""}},
	} {
		env, _ := Load("sample.yaml", []byte(withSecrets))
		err := FillSecrets(env, decrypted)
		want := "the engine gives no clear text for inventory.ssh.privateKey, slurm.database.mariadb.password, slurm.mungeKey"
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	env := &Environment{}
	if err := FillSecrets(env, nil); err != nil {
		t.Errorf("without secrets: %v", err)
	}
}

// Clear text is judged where it is known, and never shown.
func TestValidateSecrets(t *testing.T) {
	env, _ := Load("sample.yaml", []byte(withSecrets))
	env.Slurm.MungeKey.Value = "canary, too short"
	env.Inventory.SSH.PrivateKey.Value = "canary, no key"
	problems := env.Validate()
	if len(problems) != 2 || problems[0].Path != "inventory.ssh.privateKey" || problems[1].Path != "slurm.mungeKey" {
		t.Fatalf("got %v", problems)
	}
	for _, p := range problems {
		if strings.Contains(p.String()+p.Hint, "canary") {
			t.Errorf("shown: %s", p)
		}
	}
}
