package lab

import (
	"bytes"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestGenerateKey(t *testing.T) {
	a, b := testKey(t), testKey(t)
	if a == b {
		t.Error("two keys are the same")
	}
	signer, err := ssh.ParsePrivateKey([]byte(a.Private))
	if err != nil {
		t.Fatal(err)
	}
	public, comment, _, rest, err := ssh.ParseAuthorizedKey([]byte(a.Public))
	if err != nil || comment != "" || len(rest) > 0 {
		t.Fatalf("the public key %q: %v", a.Public, err)
	}
	if !bytes.Equal(public.Marshal(), signer.PublicKey().Marshal()) || public.Type() != "ssh-ed25519" {
		t.Error("the halves do not belong together, or are not ed25519")
	}
}
