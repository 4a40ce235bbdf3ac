package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
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
	key, munge := testKey(t), base64.StdEncoding.EncodeToString([]byte("canary-of-at-least-thirty-two-bytes"))
	var decrypted any
	err := json.Unmarshal([]byte(`{"inventory":{"ssh":{"privateKey":"`+key+`"}},"slurm":{"mungeKey":"`+munge+`","database":{"mariadb":{"password":"canary3"}}}}`), &decrypted)
	if err != nil {
		t.Fatal(err)
	}
	if err := FillSecrets(env, decrypted); err != nil {
		t.Fatal(err)
	}
	got := []string{env.Inventory.SSH.PrivateKey.Value, env.Slurm.MungeKey.Value, env.Slurm.Database.MariaDB.Password.Value}
	if strings.Join(got, " ") != strings.ReplaceAll(key, `\n`, "\n")+" "+munge+" canary3" {
		t.Errorf("filled in %q", got)
	}
	if text := asJSON(env); strings.Contains(text, "canary") || strings.Contains(text, "PRIVATE") || strings.Contains(text, munge) {
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

// testKey is a new private key as the text of a JSON string.
func testKey(t *testing.T) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(pem.EncodeToMemory(block)), "\n", `\n`)
}

func TestFillSecretsJudgesThem(t *testing.T) {
	env, _ := Load("sample.yaml", []byte(withSecrets))
	err := FillSecrets(env, map[string]any{
		"inventory": map[string]any{"ssh": map[string]any{"privateKey": "canary1"}},
		"slurm": map[string]any{"mungeKey": "canary2", "database": map[string]any{
			"mariadb": map[string]any{"password": "canary 3"},
		}},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, path := range []string{"inventory.ssh.privateKey: ", "slurm.mungeKey: ", "slurm.database.mariadb.password: "} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("nothing about %sin %v", path, err)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("shown: %v", err)
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

// TestSecretHint checks that the command that sets a secret can be run as it is
// shown.
func TestSecretHint(t *testing.T) {
	text := strings.Replace(withSecrets, "mungeKey:\n        secure: v1:def", "mungeKey: canary", 1)
	for file, want := range map[string]string{"stacks/Pulumi.mine.yaml": "pulumi mine config set", "f.yaml": "pulumi ENV config set"} {
		if _, report := Load(file, []byte(text)); !strings.Contains(report.String(), want) {
			t.Errorf("%s: want %q in\n%s", file, want, report)
		}
	}
}
