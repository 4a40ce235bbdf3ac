package kubectl

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// asks is a request as the API has it.
func asks(t *testing.T, of string, change func(*x509.CertificateRequest)) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: of, Organization: []string{"system:nodes"}},
		DNSNames: []string{"gpu1"}, IPAddresses: []net.IP{net.ParseIP("192.0.2.11")}}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// TestLetServe checks for whom the cluster's authority vouches: for a host's own
// kubelet, under the host's own name and addresses.
func TestLetServe(t *testing.T) {
	const own = "system:node:gpu1"
	for name, c := range map[string]struct {
		requests string
		approved []string
		want     string // the error
	}{
		"nothing is asked for":     {"", nil, ""},
		"its own":                  {"csr-1 " + own + " " + asks(t, own, nil) + " \n", []string{"csr-1"}, ""},
		"two, before and after":    {"csr-1 " + own + " " + asks(t, own, nil) + " \ncsr-2 " + own + " " + asks(t, own, nil) + " \n", []string{"csr-1", "csr-2"}, ""},
		"approved before":          {"csr-1 " + own + " " + asks(t, own, nil) + " Approved\n", nil, ""},
		"denied by somebody":       {"csr-1 " + own + " " + asks(t, own, nil) + " Denied\n", nil, ""},
		"another host's":           {"csr-1 system:node:gpu11 " + asks(t, "system:node:gpu11", nil) + " \n", nil, ""},
		"a person's":               {"csr-1 alice " + asks(t, own, nil) + " \n", nil, ""},
		"for another name":         {"csr-1 " + own + " " + asks(t, own, func(r *x509.CertificateRequest) { r.DNSNames = []string{"gpu1", "kubernetes.default.svc"} }) + " \n", nil, "for kubernetes.default.svc, and the host is gpu1, 192.0.2.11"},
		"for another address":      {"csr-1 " + own + " " + asks(t, own, func(r *x509.CertificateRequest) { r.IPAddresses = append(r.IPAddresses, net.ParseIP("10.96.0.1")) }) + " \n", nil, "for 10.96.0.1, and"},
		"for another node":         {"csr-1 " + own + " " + asks(t, "system:node:ctl1", nil) + " \n", nil, "for system:node:ctl1, and"},
		"for a person":             {"csr-1 " + own + " " + asks(t, own, func(r *x509.CertificateRequest) { r.EmailAddresses = []string{"a@example.org"} }) + " \n", nil, "for a@example.org, and"},
		"for a service by its URI": {"csr-1 " + own + " " + asks(t, own, func(r *x509.CertificateRequest) { r.URIs = []*url.URL{{Scheme: "spiffe", Host: "x"}} }) + " \n", nil, "for spiffe://x, and"},
		"not a request":            {"csr-1 " + own + " aGVsbG8= \n", nil, "reading what the kubelet of gpu1 asks for: is no request"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{given: map[string]string{"certificatesigningrequests": c.requests}}
			err := a.client().LetServe(t.Context(), "gpu1", []string{"192.0.2.11"}, 0)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var approved []string
			for _, command := range a.asked {
				if _, request, found := strings.Cut(command, "certificate approve "); found {
					approved = append(approved, request)
				}
			}
			if !slices.Equal(approved, c.approved) {
				t.Errorf("approved %q, want %q", approved, c.approved)
			}
			if c.want == "" && !a.wasAsked("get --raw /api/v1/nodes/gpu1/proxy/healthz") {
				t.Errorf("it did not look whether the kubelet serves: %q", a.asked)
			}
		})
	}
	silent := &answers{given: map[string]string{"proxy/healthz": "!remote error: tls: internal error"}}
	if err := silent.client().LetServe(t.Context(), "gpu1", nil, 0); err == nil || !strings.Contains(err.Error(), "the certificate with which the kubelet of gpu1 serves: ") {
		t.Errorf("a kubelet that does not serve: %v", err)
	}
}

// TestServingProblem checks that a kubelet that waits for its certificate is no
// healthy one.
func TestServingProblem(t *testing.T) {
	const own = "system:node:gpu1"
	for requests, want := range map[string]string{
		"": "",
		"csr-1 " + own + " " + asks(t, own, nil) + " Approved\n": "",
		"csr-1 " + own + " " + asks(t, own, nil) + " \n":         "its kubelet waits for the certificate with which it serves",
	} {
		a := &answers{given: map[string]string{"certificatesigningrequests": requests}}
		if got, err := a.client().ServingProblem(t.Context(), "gpu1"); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", requests, got, err, want)
		}
	}
}

// TestAddresses checks that those of the node itself are not among the others'.
func TestAddresses(t *testing.T) {
	a := &answers{given: map[string]string{"get nodes": "ctl1 192.0.2.1\ngpu1 192.0.2.11\ngpu11 192.0.2.21 2001:db8::1\nnew \n"}}
	got, err := a.client().Addresses(t.Context(), "gpu1")
	if want := []string{"192.0.2.1", "192.0.2.21", "2001:db8::1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
