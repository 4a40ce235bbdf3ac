package lab

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// KeyPair is an ed25519 SSH key.
type KeyPair struct {
	// Private is the private key in OpenSSH's PEM form. It is a secret.
	Private string `json:"private"`
	// Public is one line as in authorized_keys, without a comment or a line end.
	Public string `json:"public"`
}

// GenerateKey makes a new key pair.
func GenerateKey() (KeyPair, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("generating an SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return KeyPair{}, fmt.Errorf("generating an SSH key: %w", err)
	}
	sshPublic, err := ssh.NewPublicKey(public)
	if err != nil {
		return KeyPair{}, fmt.Errorf("generating an SSH key: %w", err)
	}
	return KeyPair{
		Private: string(pem.EncodeToMemory(block)),
		Public:  publicLine(sshPublic),
	}, nil
}

// publicLine is a public key as in authorized_keys, without a comment or a line end.
func publicLine(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}
