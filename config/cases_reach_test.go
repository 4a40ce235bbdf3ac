package config

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// privateKeyProblem is what is said of a text as the key that logs in.
func privateKeyProblem(t *testing.T, text string) Problem {
	t.Helper()
	env, report := Load("sample.yaml", []byte(withSecrets))
	if env == nil {
		t.Fatal(report)
	}
	env.Inventory.SSH.PrivateKey.Value = text
	problems := env.Validate()
	if len(problems) != 1 || problems[0].Path != "inventory.ssh.privateKey" {
		t.Fatalf("problems %v, want one of the key", problems)
	}
	return problems[0]
}

// TestCaseK25 checks that a key with a passphrase, which nobody would be there to
// type, is refused with the place where it works.
func TestCaseK25(t *testing.T) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("canary"))
	if err != nil {
		t.Fatal(err)
	}
	if p := privateKeyProblem(t, string(pem.EncodeToMemory(block))); !strings.Contains(p.Hint, "one with a passphrase goes into an SSH agent") {
		t.Errorf("got %v, %s", p, p.Hint)
	}
}

// TestCaseK26 checks that a certificate in the place of the key is told for what it
// is, with the way in which certificates log in.
func TestCaseK26(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	certificate := &ssh.Certificate{Key: key, CertType: ssh.UserCert, KeyId: "canary", ValidPrincipals: []string{"root"}}
	if err := certificate.SignCert(rand.Reader, signer); err != nil {
		t.Fatal(err)
	}
	p := privateKeyProblem(t, string(ssh.MarshalAuthorizedKey(certificate)))
	if p.What != "a certificate of SSH, not a private key" || !strings.Contains(p.Hint, "into an SSH agent") {
		t.Errorf("got %v, %s", p, p.Hint)
	}
}

// TestCaseK30 misspells keys beside secrets: the report names them, and shows none
// of the secrets, also where those stand in clear text.
func TestCaseK30(t *testing.T) {
	for name, written := range map[string]string{
		"a key that nobody knows":        "        privatKey: canary\n        privateKey: {secure: v1:abc}\n",
		"beside a secret in clear text":  "        usr: deploy\n        privateKey: canary\n",
		"a secret and a word too many":   "        privateKey: {secure: v1:abc, canary: canary}\n",
		"lines of a key, indented wrong": "        privatekey: |\n          canary\n          canary\n",
	} {
		text := strings.Replace(withSecrets, "        privateKey: {secure: v1:abc}\n", written, 1)
		env, report := Load("sample.yaml", []byte(text))
		if env != nil || !strings.Contains(report.String(), "inventory.ssh.") {
			t.Errorf("%s: accepted, or told otherwise:\n%s", name, report)
		}
		if strings.Contains(report.String(), "canary") {
			t.Errorf("%s: the report shows a secret:\n%s", name, report)
		}
	}
}
