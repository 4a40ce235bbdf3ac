package kubectl

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

// certificate makes one with that life.
func certificate(t *testing.T, from, until time.Time, authority bool) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, IsCA: authority, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestCertificates checks which are due: with a third of their life left, and
// never an authority.
func TestCertificates(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Unix(1_700_000_000, 0)
	life := func(before, after time.Duration, authority bool) string {
		return certificate(t, now.Add(-before), now.Add(after), authority)
	}
	inConf := func(pem string) string { return base64.StdEncoding.EncodeToString([]byte(pem)) + "\n" }
	for name, c := range map[string]struct {
		text    string
		due     []string
		problem string
		wrong   bool
	}{
		"new":              {"file pki/apiserver.crt\n" + life(day, 364*day, false), nil, "", false},
		"more than third":  {"file pki/apiserver.crt\n" + life(200*day, 101*day, false), nil, "", false},
		"less than third":  {"file pki/apiserver.crt\n" + life(200*day, 99*day, false), []string{"pki/apiserver.crt"}, "certificates end on 2024-02-21 22:13: pki/apiserver.crt", false},
		"over":             {"file pki/apiserver.crt\n" + life(366*day, -day, false), []string{"pki/apiserver.crt"}, "end on 2023-11-13", false},
		"an authority":     {"file pki/ca.crt\n" + life(3600*day, 50*day, true), nil, "", false},
		"a kubeconfig":     {"file admin.conf\n" + inConf(life(300*day, 65*day, false)), []string{"admin.conf"}, "admin.conf", false},
		"without its own":  {"file kubelet.conf\nfile pki/apiserver.crt\n" + life(day, day*364, false), nil, "", false},
		"no control plane": {"", nil, "", false},
		"old processes":    {"file admin.conf\n" + inConf(life(day, 364*day, false)) + "stale kube-scheduler\n", nil, "renewed: kube-scheduler", false},
		"no certificate":   {"file pki/apiserver.crt\n<html>\n", nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{given: map[string]string{"date": fmt.Sprintf("%d\n%s", now.Unix(), c.text)}}
			read, err := a.client().Certificates(t.Context())
			if (err != nil) != c.wrong {
				t.Fatal(err)
			}
			if !slices.Equal(read.Due(), c.due) || (read.Problem() == "") != (c.problem == "") || !strings.Contains(read.Problem(), c.problem) {
				t.Errorf("due %q, problem %q", read.Due(), read.Problem())
			}
		})
	}
	if _, err := (&answers{given: map[string]string{"date": "what?"}}).client().Certificates(t.Context()); err == nil {
		t.Error("what is no answer is read")
	}
}

// TestRenew checks that only what is due is renewed, and only what is old starts
// again.
func TestRenew(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		left    time.Duration
		stale   string
		renewed bool
		killed  bool
	}{
		"new":                       {364 * 24 * time.Hour, "", false, false},
		"due":                       {24 * time.Hour, "", true, false},
		"cut off after the renewal": {364 * 24 * time.Hour, "stale etcd\n", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("%d\nfile pki/apiserver.crt\n%s%s", now.Unix(), certificate(t, now.Add(-300*24*time.Hour), now.Add(c.left), false), c.stale)
			a := &answers{given: map[string]string{"date +%s": text}}
			if err := a.client().RenewCertificates(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			if a.wasAsked("kubeadm certs renew all") != c.renewed || a.wasAsked("kill") != c.killed || a.wasAsked("/readyz") != c.killed {
				t.Errorf("asked:\n%s", strings.Join(a.asked, "\n"))
			}
		})
	}
}
