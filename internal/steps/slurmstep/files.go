package slurmstep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// unchanged fails when a file on the host is not what was placed there.
func unchanged(ctx context.Context, session *remote.Session, host string, files []slurmctl.File) error {
	var list strings.Builder
	for _, file := range files {
		sum := sha256.Sum256([]byte(file.Content))
		fmt.Fprintf(&list, "%s  %s\n", hex.EncodeToString(sum[:]), file.Path)
	}
	out, err := session.Run(ctx, host, "sha256sum --check --quiet - 2>&1 || true", []byte(list.String()))
	if err != nil {
		return err
	}
	if out = strings.TrimSpace(out); out != "" {
		return fmt.Errorf("files on %s were changed by somebody else: %s", host, strings.ReplaceAll(out, "\n", "; "))
	}
	return nil
}
