package kubetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// API is an API server that a test talks to, as its administrator or as
// somebody else.
type API struct {
	// Kubeconfig is the file with which programs talk to it as administrator.
	Kubeconfig string

	plane                *plane
	address, certificate string
	client               *http.Client
	user                 string
	groups               []string
}

// certified is a name in the certificate that a server makes for itself.
const certified = "kubernetes.default.svc"

// As is the same server, asked as somebody else.
func (a *API) As(user string, groups ...string) *API {
	other := *a
	other.user, other.groups = user, groups
	return &other
}

// Refusal is the server's no.
type Refusal struct {
	// Code is HTTP's, and Message what the server says.
	Code    int
	Message string
}

func (r *Refusal) Error() string { return fmt.Sprintf("refused with %d: %s", r.Code, r.Message) }

// Do sends a request and returns the object in the answer. The body is an object
// as JSON or YAML, or nil. What the server does not accept is a [Refusal].
func (a *API) Do(ctx context.Context, method, path string, body []byte) (map[string]any, error) {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+a.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+adminToken)
	request.Header.Set("Content-Type", "application/yaml")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	request.Header.Set("Accept", "application/json")
	if a.user != "" {
		request.Header.Set("Impersonate-User", a.user)
		request.Header["Impersonate-Group"] = append([]string{"system:authenticated"}, a.groups...)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the API server: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's answer: %w", err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		object = map[string]any{"message": string(text)}
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &Refusal{response.StatusCode, fmt.Sprint(object["message"])}
	}
	return object, nil
}

// Create makes an object, given as JSON or YAML with its kind.
func (a *API) Create(ctx context.Context, text []byte) (map[string]any, error) {
	return a.post(ctx, text, "")
}

// Try asks whether an object could be made, and makes none.
func (a *API) Try(ctx context.Context, text []byte) error {
	_, err := a.post(ctx, text, "&dryRun=All")
	return err
}

func (a *API) post(ctx context.Context, text []byte, options string) (map[string]any, error) {
	path, err := collection(text)
	if err != nil {
		return nil, err
	}
	return a.Do(ctx, http.MethodPost, path+"?fieldValidation=Strict"+options, text)
}

// waitReady waits until the server says that it is ready.
func (a *API) waitReady(ctx context.Context) error {
	for {
		err := a.trust()
		if err == nil {
			_, err = a.Do(ctx, http.MethodGet, "/readyz", nil)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// trust reads the certificate that the server has made for itself.
func (a *API) trust() error {
	text, err := os.ReadFile(a.certificate)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s is no certificate yet", a.certificate)
	}
	a.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: certified}}, Timeout: time.Minute}
	return nil
}

// writeKubeconfig writes what programs need to talk to the server.
func (a *API) writeKubeconfig(path, token string) error {
	certificate, err := os.ReadFile(a.certificate)
	if err != nil {
		return err
	}
	text := strings.NewReplacer("ADDRESS", a.address, "CERTIFICATE", base64.StdEncoding.EncodeToString(certificate), "TOKEN", token).Replace(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://ADDRESS", tls-server-name: kubernetes.default.svc, certificate-authority-data: CERTIFICATE}}]
users: [{name: test, user: {token: "TOKEN"}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
current-context: test
`)
	return os.WriteFile(path, []byte(text), 0o600)
}
