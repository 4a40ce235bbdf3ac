package helmchart

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	chartType    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// fromRegistry reads a chart as registries of images keep it.
func fromRegistry(ctx context.Context, scheme, reference, version string) ([]byte, error) {
	host, path, ok := strings.Cut(reference, "/")
	if !ok {
		return nil, fmt.Errorf("oci://%s names no registry and path", reference)
	}
	base := scheme + host + "/v2/" + path
	// A plus sign is none of a tag's letters.
	text, head, err := ask(ctx, base+"/manifests/"+strings.ReplaceAll(version, "+", "_"), http.Header{"Accept": {manifestType}})
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Layers []struct {
			MediaType string `json:"mediaType"`
			Digest    string `json:"digest"`
		} `json:"layers"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest of oci://%s: %w", reference, err)
	}
	for _, layer := range manifest.Layers {
		if layer.MediaType != chartType {
			continue
		}
		chart, err := get(ctx, base+"/blobs/"+layer.Digest, head)
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(chart); "sha256:"+hex.EncodeToString(sum[:]) != layer.Digest {
			return nil, fmt.Errorf("oci://%s is not what its digest says", reference)
		}
		return chart, nil
	}
	return nil, fmt.Errorf("oci://%s is no chart", reference)
}

var challenge = regexp.MustCompile(`(realm|service|scope)="([^"]*)"`)

// ask reads a URL, as somebody without a name where the registry wants a token. It
// returns the head with which further requests are let in.
func ask(ctx context.Context, at string, head http.Header) ([]byte, http.Header, error) {
	text, err := get(ctx, at, head)
	var no *answer
	if !errors.As(err, &no) || no.code != http.StatusUnauthorized {
		return text, nil, err
	}
	wanted := map[string]string{}
	for _, match := range challenge.FindAllStringSubmatch(no.head.Get("WWW-Authenticate"), -1) {
		wanted[match[1]] = match[2]
	}
	if wanted["realm"] == "" {
		return nil, nil, err
	}
	given, err := get(ctx, wanted["realm"]+"?"+url.Values{"service": {wanted["service"]}, "scope": {wanted["scope"]}}.Encode(), nil)
	if err != nil {
		return nil, nil, err
	}
	var token struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(given, &token) != nil || token.Token == "" {
		return nil, nil, fmt.Errorf("%s gives no token to everybody", wanted["realm"])
	}
	bearer := http.Header{"Authorization": {"Bearer " + token.Token}}
	head = head.Clone()
	head["Authorization"] = bearer["Authorization"]
	text, err = get(ctx, at, head)
	return text, bearer, err
}
