// Package kubeapi asks an API server of Kubernetes from here, with what a
// kubeconfig says. It is for the little that has to be asked before anything
// else can talk to the server; objects are made by Pulumi.
//
// The usual path is [New] with an administrator's kubeconfig, then [Client.Try].
package kubeapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// requestLimit is how long one answer may take; an API server gives a webhook 10 s.
const requestLimit = 30 * time.Second

// Client talks to one API server.
type Client struct {
	server, token string
	authority     []byte
	http          *http.Client
}

// Authority is the certificate of who vouches for the server, as PEM. A cluster
// has the same one as long as it is there.
func (c *Client) Authority() []byte { return c.authority }

// Refusal is a server's no.
type Refusal struct {
	// Code is HTTP's, and Message what the server says.
	Code    int
	Message string
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("the API server answers %d: %s", r.Code, r.Message)
	if r.unreached() {
		text += " (let every control plane connect to pods on every host: a firewall may block the port of this webhook's pods, such as 9443 or 8443)"
	}
	return text
}

// unreached tells that the server has asked a webhook and heard nothing, as when
// something between them drops what it sends. A pod that is not there yet refuses.
func (r *Refusal) unreached() bool {
	return strings.Contains(r.Message, "failed calling webhook") && slices.ContainsFunc(
		[]string{"context deadline exceeded", "i/o timeout", "no route to host", "Client.Timeout"}, func(words string) bool { return strings.Contains(r.Message, words) })
}

// kubeconfig is what is read of the file. Certificates and keys are base64.
type kubeconfig struct {
	CurrentContext string `yaml:"current-context"`
	Contexts       []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
			User    string `yaml:"user"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	Clusters []struct {
		Name    string `yaml:"name"`
		Cluster struct {
			Server     string `yaml:"server"`
			ServerName string `yaml:"tls-server-name"`
			Authority  base64 `yaml:"certificate-authority-data"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string `yaml:"name"`
		User struct {
			Token       string `yaml:"token"`
			Certificate base64 `yaml:"client-certificate-data"`
			Key         base64 `yaml:"client-key-data"`
		} `yaml:"user"`
	} `yaml:"users"`
}

// New makes a client from a kubeconfig's text, for its current context. It knows
// servers with a certificate authority in the file, and users with a token or a
// certificate in it. No error holds anything of the text.
func New(text []byte) (*Client, error) {
	var file kubeconfig
	if yaml.Unmarshal(text, &file) != nil {
		return nil, errors.New("the kubeconfig is not one")
	}
	c := &Client{}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, named := range file.Contexts {
		if named.Name != file.CurrentContext {
			continue
		}
		for _, cluster := range file.Clusters {
			if cluster.Name == named.Context.Cluster {
				c.server, settings.ServerName = cluster.Cluster.Server, cluster.Cluster.ServerName
				c.authority = cluster.Cluster.Authority
				settings.RootCAs = x509.NewCertPool()
				settings.RootCAs.AppendCertsFromPEM(cluster.Cluster.Authority)
			}
		}
		for _, user := range file.Users {
			if user.Name != named.Context.User {
				continue
			}
			c.token = user.User.Token
			if len(user.User.Certificate) > 0 {
				pair, err := tls.X509KeyPair(user.User.Certificate, user.User.Key)
				if err != nil {
					return nil, errors.New("the kubeconfig's certificate and key are no pair")
				}
				settings.Certificates = []tls.Certificate{pair}
			}
		}
	}
	if c.server == "" {
		return nil, errors.New("the kubeconfig's current context leads to no server")
	}
	c.http = &http.Client{Timeout: requestLimit, Transport: &http.Transport{TLSClientConfig: settings}}
	return c, nil
}

// Try asks whether an object, as JSON, could be made under a path such as
// "/apis/example.org/v1/things": everything that admits objects is asked, and
// nothing is made. What the server does not accept is a [Refusal].
func (c *Client) Try(ctx context.Context, path string, object []byte) error {
	_, err := c.do(ctx, http.MethodPost, path+"?dryRun=All", "application/json", object)
	return err
}

// Get reads an object, or what is under a path, as JSON. What the server does not
// give is a [Refusal].
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	return c.do(ctx, http.MethodGet, path, "", nil)
}

// Apply makes an object, as JSON, at its own path, or brings the one that is there
// to it. What others have set there and it does not mention stays.
func (c *Client) Apply(ctx context.Context, path string, object []byte) error {
	_, err := c.do(ctx, http.MethodPatch, path+"?fieldManager=gpucluster&force=true", "application/apply-patch+yaml", object)
	return err
}

// Delete removes an object at its own path. That there is none is no error.
func (c *Client) Delete(ctx context.Context, path string) error {
	_, err := c.do(ctx, http.MethodDelete, path, "", nil)
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.Code == http.StatusNotFound {
		return nil
	}
	return err
}

// mostBytes is more than any answer has that is asked for here.
const mostBytes = 16 << 20

func (c *Client) do(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking the API server: %w", err)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the API server: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if response.StatusCode < http.StatusBadRequest {
		if err != nil {
			return nil, fmt.Errorf("reading the API server's answer: %w", err)
		}
		return answer, nil
	}
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &status) != nil {
		status.Message = string(answer)
	}
	return nil, &Refusal{response.StatusCode, status.Message}
}
