package kubectl

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// servingSigner signs the certificates with which kubelets serve. Nothing in
// Kubernetes approves what they ask of it.
const servingSigner = "kubernetes.io/kubelet-serving"

// servingRequest is what a kubelet asks for.
type servingRequest struct {
	name string
	asks *x509.CertificateRequest
}

// servingRequests are those of a host that nobody has decided on. Who asks is
// the API server's word: only a host's own kubelet is system:node:HOST.
func (c *Client) servingRequests(ctx context.Context, host string) ([]servingRequest, error) {
	out, err := c.run(ctx, nil, "get", "certificatesigningrequests", "--field-selector", "spec.signerName="+servingSigner,
		"-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.username} {.spec.request} {.status.conditions[*].type}{"\n"}{end}`)
	if err != nil {
		return nil, fmt.Errorf("asking which certificates kubelets want: %w", err)
	}
	var all []servingRequest
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) != 3 || words[1] != "system:node:"+host {
			continue // decided, or another's
		}
		asks, err := parseRequest(words[2])
		if err != nil {
			return nil, fmt.Errorf("reading what the kubelet of %s asks for: %w", host, err)
		}
		all = append(all, servingRequest{words[0], asks})
	}
	return all, nil
}

// parseRequest reads a request as the API has it.
func parseRequest(text string) (*x509.CertificateRequest, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, errors.New("is no request for a certificate")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// foreign are the names in a request that are not the host's own: its name, and
// these addresses. The cluster's authority would vouch for them.
func (r servingRequest) foreign(host string, addresses []string) []string {
	var others []string
	if name := r.asks.Subject.CommonName; name != "system:node:"+host {
		others = append(others, name)
	}
	for _, name := range r.asks.DNSNames {
		if name != host {
			others = append(others, name)
		}
	}
	for _, address := range r.asks.IPAddresses {
		if !slices.ContainsFunc(addresses, func(own string) bool { return address.Equal(net.ParseIP(own)) }) {
			others = append(others, address.String())
		}
	}
	others = append(others, r.asks.EmailAddresses...)
	for _, uri := range r.asks.URIs {
		others = append(others, uri.String())
	}
	return others
}

// ServingProblem says that the kubelet of a host waits for its certificate, or
// nothing.
func (c *Client) ServingProblem(ctx context.Context, host string) (string, error) {
	waiting, err := c.servingRequests(ctx, host)
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	return "its kubelet waits for the certificate with which it serves", nil
}

// LetServe lets the cluster's authority sign the certificate with which the
// kubelet of a host serves, and waits until it serves: the logs and metrics of
// its pods come from there. A request that names anything but the host and these
// addresses of it is not approved, and an error.
func (c *Client) LetServe(ctx context.Context, host string, addresses []string, limit time.Duration) error {
	var refused error
	err := c.until(ctx, limit, "the certificate with which the kubelet of "+host+" serves", func(ctx context.Context) error {
		waiting, err := c.servingRequests(ctx, host)
		if err != nil {
			return err
		}
		for _, request := range waiting {
			if others := request.foreign(host, addresses); len(others) > 0 {
				refused = fmt.Errorf("its kubelet asks for a certificate for %s, and the host is %s", strings.Join(others, ", "), strings.Join(append([]string{host}, addresses...), ", "))
				return nil
			}
			if _, err := c.run(ctx, nil, "certificate", "approve", request.name); err != nil {
				return fmt.Errorf("approving it: %w", err)
			}
		}
		_, err = c.run(ctx, nil, "get", "--raw", "/api/v1/nodes/"+host+"/proxy/healthz")
		return err
	})
	return errors.Join(refused, err)
}

// Addresses are those of all nodes but one.
func (c *Client) Addresses(ctx context.Context, but string) ([]string, error) {
	out, err := c.run(ctx, nil, "get", "nodes", "-o", `jsonpath={range .items[*]}{.metadata.name} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}`)
	if err != nil {
		return nil, fmt.Errorf("asking for the addresses of nodes: %w", err)
	}
	var all []string
	for line := range strings.Lines(out) {
		if name, rest, _ := strings.Cut(strings.TrimSpace(line), " "); name != but {
			all = append(all, strings.Fields(rest)...)
		}
	}
	return all, nil
}
