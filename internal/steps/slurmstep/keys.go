package slurmstep

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// KeysSpec asks for the keys of a cluster.
type KeysSpec struct {
	// Cluster by name.
	Cluster string `json:"cluster"`
}

// KeysResult is the keys of a cluster. All of it is secret.
type KeysResult struct {
	// Munge is the MUNGE key in base64.
	Munge string `json:"munge"`
	// Database is the password of the accounting database.
	Database string `json:"database"`
}

// mungeKeyBytes is the size that mungekey(8) makes by default.
const mungeKeyBytes = 128

func applyKeys(_ context.Context, in *step.Input) (any, error) {
	var spec KeysSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	munge := make([]byte, mungeKeyBytes)
	password := make([]byte, 24)
	for _, key := range [][]byte{munge, password} {
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("making a key: %w", err)
		}
	}
	return KeysResult{Munge: base64.StdEncoding.EncodeToString(munge), Database: hex.EncodeToString(password)}, nil
}

// ReadKeys reads the result of the keys' step.
func ReadKeys(result string) (KeysResult, error) {
	var keys KeysResult
	if err := json.Unmarshal([]byte(result), &keys); err != nil {
		return keys, fmt.Errorf("reading the cluster's keys: not the result of the step")
	}
	return keys, nil
}
