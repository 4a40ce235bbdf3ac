package slurmstep

import (
	"context"
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestForeignFilesAreRefused checks, on the controllers, that what is not ours is
// not overwritten (case S79), whichever controller has it.
func TestForeignFilesAreRefused(t *testing.T) {
	const ours = "# slurm.conf: written by gpucluster. The next run replaces it: change the environment file.\n\nClusterName=c\n"
	for name, c := range map[string]struct {
		content string // "" is no file
		refused bool
	}{
		"none":                        {"", false},
		"an empty one":                {"empty", false},
		"ours":                        {ours, false},
		"ours, edited":                {ours + "Extra=1\n", false},
		"a script of ours":            {"#!/bin/sh\n# prolog.sh: written by gpucluster. The next run replaces it: change the environment file.\n", false},
		"an administrator's":          {"ClusterName=theirs\n", true},
		"one that only mentions us":   {"ClusterName=theirs\n# like what is\n# slurm.conf: written by gpucluster.\n", true},
		"a package's, as it came":     {"include /etc/slurm/plugstack.conf.d/*.conf\n", false},
		"a package's, edited":         {"include /etc/slurm/plugstack.conf.d/*.conf\nrequired spank.so\n", true},
		"a link to one of theirs":     {"link", true},
		"a link that leads to naught": {"dangling", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "it.conf")
			s := steptest.New(t, map[string]string{"dpkg-query": fmt.Sprintf("echo ' %s %x'", file, md5.Sum([]byte("include /etc/slurm/plugstack.conf.d/*.conf\n")))})
			switch c.content {
			case "":
			case "empty":
				write(t, file, "")
			case "link":
				write(t, filepath.Join(dir, "theirs"), "ClusterName=theirs\n")
				link(t, filepath.Join(dir, "theirs"), file)
			case "dangling":
				link(t, filepath.Join(dir, "naught"), file)
			default:
				write(t, file, c.content)
			}
			session, err := s.Input(t, nil, "ctl1", "ctl2").Connect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			err = refuseForeign(context.Background(), session, []string{"ctl1", "ctl2"}, []slurmctl.File{{Path: filepath.Join(dir, "other.conf")}, {Path: file}})
			if !c.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || strings.Count(err.Error(), file+" on ctl") != 2 {
				t.Errorf("error %v, want one that names %s on both controllers", err, file)
			}
		})
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, file string) {
	t.Helper()
	if err := os.Symlink(to, file); err != nil {
		t.Fatal(err)
	}
}
