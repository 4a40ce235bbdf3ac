package kubectl

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Certificate is one of those that kubeadm made on a control plane.
type Certificate struct {
	// File below /etc/kubernetes.
	File string
	// From and Until are its life.
	From, Until time.Time
	// Authority tells that others are made with it. Those live for ten years, and
	// nobody renews them.
	Authority bool
}

// due tells whether a third of its life or less is left.
func (c Certificate) due(now time.Time) bool {
	return !c.Authority && c.Until.Sub(now) <= c.Until.Sub(c.From)/3
}

// Certificates are those of one control plane.
type Certificates struct {
	// All that there are. A host that is no control plane has none.
	All []Certificate
	// Stale are the static pods that still run with what the files were before.
	Stale []string

	// now is the host's own time.
	now time.Time
}

// Ends is when the first of the authorities, or of the others, ends.
func (c Certificates) Ends(authorities bool) time.Time {
	var first time.Time
	for _, one := range c.All {
		if one.Authority == authorities && (first.IsZero() || one.Until.Before(first)) {
			first = one.Until
		}
	}
	return first
}

// Due are the files whose certificate has to be renewed: with a third of its life
// left at most.
func (c Certificates) Due() []string {
	var files []string
	for _, one := range c.All {
		if one.due(c.now) {
			files = append(files, one.File)
		}
	}
	return files
}

// Problem says what is wrong with them, or nothing.
func (c Certificates) Problem() string {
	switch due := c.Due(); {
	case len(due) > 0:
		return fmt.Sprintf("certificates end on %s: %s", c.Ends(false).UTC().Format("2006-01-02 15:04"), strings.Join(due, ", "))
	case len(c.Stale) > 0:
		return "they run with certificates that have been renewed: " + strings.Join(c.Stale, ", ")
	}
	return ""
}

// staticPods are what kubeadm runs on a control plane, in the order in which they
// are restarted, each with a file that it reads when it starts.
var staticPods = [][2]string{
	{"etcd", "pki/etcd/server.crt"}, {"kube-apiserver", "pki/apiserver.crt"},
	{"kube-controller-manager", "controller-manager.conf"}, {"kube-scheduler", "scheduler.conf"},
}

// processOf is a shell function: the process of a static pod.
const processOf = `process() { # NAME
	ids=$(ctr -n k8s.io containers list -q "labels.\"io.kubernetes.container.name\"==$1,labels.\"io.kubernetes.pod.namespace\"==kube-system")
	for id in $ids; do ctr -n k8s.io tasks list | awk -v id="$id" '$1 == id && $3 == "RUNNING" { print $2 }'; done | head -n 1
}
`

// inspect writes the time, each file with its certificate alone, and the static
// pods that are older than their file. No key leaves the host.
const inspect = processOf + `date +%s
cd /etc/kubernetes 2>/dev/null || exit 0
for file in pki/*.crt pki/etcd/*.crt; do [ ! -f "$file" ] || { echo "file $file"; cat "$file"; }; done
for file in *.conf; do [ ! -f "$file" ] || { echo "file $file"; sed -n 's/^ *client-certificate-data: //p' "$file"; }; done
stale() { # NAME FILE
	pid=$(process "$1") && [ -n "$pid" ] && [ -f "$2" ] || return 0
	started=$(($(date +%s) - $(ps -o etimes= -p "$pid")))
	[ "$(stat -c %Y "$2")" -le "$started" ] || echo "stale $1"
}
`

// Certificates reads those of the host.
func (c *Client) Certificates(ctx context.Context) (Certificates, error) {
	var script strings.Builder
	script.WriteString(inspect)
	for _, pod := range staticPods {
		script.WriteString("stale " + shell.Words(pod[0], pod[1]) + "\n")
	}
	out, err := c.Runner.Run(ctx, script.String(), nil)
	if err != nil {
		return Certificates{}, fmt.Errorf("reading the certificates of a control plane: %w", err)
	}
	read, err := readCertificates(string(out))
	if err != nil {
		return Certificates{}, fmt.Errorf("reading the certificates of a control plane: %w", err)
	}
	return read, nil
}

// readCertificates understands what inspect writes.
func readCertificates(text string) (Certificates, error) {
	first, rest, _ := strings.Cut(text, "\n")
	seconds, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return Certificates{}, fmt.Errorf("%q is no time", first)
	}
	read := Certificates{now: time.Unix(seconds, 0)}
	file, body := "", ""
	keep := func() error {
		if strings.TrimSpace(body) == "" {
			return nil // a kubeconfig whose credentials are elsewhere
		}
		certificate, err := parseCertificate(body)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		certificate.File = file
		read.All = append(read.All, certificate)
		return nil
	}
	for line := range strings.Lines(rest) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "stale "); ok {
			read.Stale = append(read.Stale, name)
			continue
		}
		name, ok := strings.CutPrefix(line, "file ")
		if !ok {
			body += line
			continue
		}
		if err := keep(); err != nil {
			return Certificates{}, err
		}
		file, body = strings.TrimSpace(name), ""
	}
	return read, keep()
}

// parseCertificate reads a certificate as PEM, or as a kubeconfig has it.
func parseCertificate(body string) (Certificate, error) {
	raw := []byte(body)
	if !strings.Contains(body, "-----BEGIN") {
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(body))
		if err != nil {
			return Certificate{}, err
		}
		raw = decoded
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return Certificate{}, errors.New("is no certificate")
	}
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Certificate{}, err
	}
	return Certificate{From: parsed.NotBefore, Until: parsed.NotAfter, Authority: parsed.IsCA}, nil
}

// RenewCertificates makes new certificates where that is due, and has each static
// pod that still runs with an old one start again, one after the other; the API
// answers again when it returns. limit bounds the wait for each of them.
func (c *Client) RenewCertificates(ctx context.Context, limit time.Duration) error {
	found, err := c.Certificates(ctx)
	if err != nil {
		return err
	}
	if due := found.Due(); len(due) > 0 {
		c.say("renewing certificates, of which the first ends on %s", found.Ends(false).UTC().Format("2006-01-02"))
		if _, err := c.command(ctx, nil, "kubeadm", "certs", "renew", "all"); err != nil {
			return fmt.Errorf("renewing certificates: %w", err)
		}
		if found, err = c.Certificates(ctx); err != nil {
			return err
		}
	}
	for _, name := range found.Stale {
		c.say("starting %s again, which has an old certificate", name)
		if err := c.restart(ctx, name, limit); err != nil {
			return fmt.Errorf("starting %s again: %w", name, err)
		}
	}
	if len(found.Stale) == 0 {
		return nil
	}
	return c.WaitUp(ctx, limit)
}

// restart ends the process of a static pod, which kubelet then starts again.
func (c *Client) restart(ctx context.Context, name string, limit time.Duration) error {
	script := processOf + fmt.Sprintf(`old=$(process %[1]s)
[ -n "$old" ] || exit 0 # whenever it starts, it reads what is there
kill "$old"
for n in $(seq %[2]d); do
	new=$(process %[1]s)
	[ -z "$new" ] || [ "$new" = "$old" ] || exit 0
	sleep 1
done
echo "kubelet has not started it again after %[2]d s" >&2
exit 1
`, shell.Words(name), int(limit.Seconds()))
	_, err := c.Runner.Run(ctx, script, nil)
	return err
}
