package helmchart

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	// mostBytes is more than any chart has.
	mostBytes = 64 << 20
	// fetchLimit is how long one answer may take.
	fetchLimit = 2 * time.Minute
)

// Source is where a chart is.
type Source struct {
	// Place is the site's own: a registry (oci://) that everybody may read, or a URL
	// or folder with files NAME-VERSION.tgz. Empty: Repository.
	Place string `json:"place,omitempty"`
	// Repository is that of the chart's makers: a URL with an index.yaml.
	Repository string `json:"repository"`
	// Name and Version of the chart.
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Fetch returns the chart's archive.
func Fetch(ctx context.Context, s Source) ([]byte, error) {
	file := s.Name + "-" + s.Version + ".tgz"
	var text []byte
	var err error
	switch place := strings.TrimSuffix(s.Place, "/"); {
	case place == "":
		text, err = fromRepository(ctx, s)
	case strings.HasPrefix(place, "oci://"):
		text, err = fromRegistry(ctx, "https://", strings.TrimPrefix(place, "oci://")+"/"+s.Name, s.Version)
	case strings.Contains(place, "://"):
		text, err = get(ctx, place+"/"+file, nil)
	default:
		text, err = os.ReadFile(place + "/" + file)
	}
	if err != nil {
		return nil, fmt.Errorf("fetching the chart %s %s: %w", s.Name, s.Version, err)
	}
	return text, nil
}

// answer is a server's no.
type answer struct {
	url  string
	code int
	head http.Header
}

func (a *answer) Error() string { return fmt.Sprintf("%s answers %d", a.url, a.code) }

// pauses are waited, each once, when a server fails to give what it may have.
var pauses = []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}

// get reads what a URL has, and asks again where the server or the way to it fails.
func get(ctx context.Context, at string, head http.Header) ([]byte, error) {
	for attempt := 0; ; attempt++ {
		text, err := once(ctx, at, head)
		var no *answer
		lasts := errors.As(err, &no) && no.code < http.StatusInternalServerError && no.code != http.StatusTooManyRequests
		if err == nil || lasts || errors.Is(err, errTooLarge) || attempt == len(pauses) {
			return text, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pauses[attempt]):
		}
	}
}

// errTooLarge says that something is no chart.
var errTooLarge = fmt.Errorf("larger than %d MiB", mostBytes>>20)

// once asks for what a URL has.
func once(ctx context.Context, at string, head http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	for key, values := range head {
		request.Header[key] = values
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, &answer{at, response.StatusCode, response.Header}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = fmt.Errorf("%s is %w", at, errTooLarge)
	}
	return text, err
}

// fromRepository looks the chart up in its makers' index.
func fromRepository(ctx context.Context, s Source) ([]byte, error) {
	base := strings.TrimSuffix(s.Repository, "/") + "/"
	text, err := get(ctx, base+"index.yaml", nil)
	if err != nil {
		return nil, err
	}
	var index struct {
		Entries map[string][]struct {
			Version string   `yaml:"version"`
			Digest  string   `yaml:"digest"`
			URLs    []string `yaml:"urls"`
		} `yaml:"entries"`
	}
	if err := yaml.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("reading %sindex.yaml: %w", base, err)
	}
	for _, entry := range index.Entries[s.Name] {
		if entry.Version != s.Version || len(entry.URLs) == 0 {
			continue
		}
		at, err := url.Parse(entry.URLs[0])
		if err != nil {
			return nil, err
		}
		from, err := url.Parse(base)
		if err != nil {
			return nil, err
		}
		text, err := get(ctx, from.ResolveReference(at).String(), nil)
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(text); entry.Digest != "" && strings.TrimPrefix(entry.Digest, "sha256:") != hex.EncodeToString(sum[:]) {
			return nil, fmt.Errorf("%s is not what %sindex.yaml says", at, base)
		}
		return text, nil
	}
	return nil, errors.New(base + "index.yaml does not have it")
}
