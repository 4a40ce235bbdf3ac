package slurmctl

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// The names of what lies beside a placed file, dotted so that no glob takes
// it for configuration: the new content, the file that stood there before, and
// the mark that there was none. The last two end in the placement's ID.
const (
	newSuffix    = ".gpucluster-new"
	beforeSuffix = ".gpucluster-before-"
	absentSuffix = ".gpucluster-absent-"
)

func beside(p, suffix string) string {
	return path.Join(path.Dir(p), "."+path.Base(p)+suffix)
}

// Place writes all files beside their places first, so that a full disk is
// found before anything changed, then renames one by one.
func (s Shell) Place(ctx context.Context, p Placement) error {
	if len(p.Files) == 0 {
		return nil
	}
	archive, err := tarball(p.Files, func(f File) string {
		return strings.TrimPrefix(beside(f.Path, newSuffix), "/")
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("set -e\numask 077\n")
	var news []string
	for _, f := range p.Files {
		news = append(news, beside(f.Path, newSuffix))
		fmt.Fprintf(&b, "mkdir -p -m 755 %s\n", shell.Quote(path.Dir(f.Path)))
	}
	b.WriteString(p.alone())
	fmt.Fprintf(&b, "trap '%s' EXIT\n", strings.ReplaceAll(shell.Words(append([]string{"rm", "-f"}, news...)...), "'", `'\''`))
	// On a full disk tar does not say why it fails.
	fmt.Fprintf(&b, "tar -x -P -f - -C / --no-same-owner || { df -P %s >&2; exit 1; }\n", shell.Quote(path.Dir(p.Files[0].Path)))
	for _, f := range p.Files {
		fmt.Fprintf(&b, "chown %s:%s %s\nchmod %o %s\n", shell.Quote(orRoot(f.Owner)), shell.Quote(orRoot(f.Group)),
			shell.Quote(beside(f.Path, newSuffix)), orMode(f.Mode), shell.Quote(beside(f.Path, newSuffix)))
	}
	b.WriteString(shell.Words(append([]string{"sync"}, news...)...) + "\n")
	// Every previous file has a second name before the first is replaced. A
	// name needs no room on a full disk, and is there wholly or not at all.
	for _, f := range p.Files {
		to := shell.Quote(f.Path)
		fmt.Fprintf(&b, "rm -f %s* %s*\n", shell.Quote(beside(f.Path, beforeSuffix)), shell.Quote(beside(f.Path, absentSuffix)))
		fmt.Fprintf(&b, "if [ -e %s ]; then ln %s %s; else : >%s; fi\n", to, to, p.before(f), p.absent(f))
	}
	for _, f := range p.Files {
		fmt.Fprintf(&b, "mv -f %s %s\n", shell.Quote(beside(f.Path, newSuffix)), shell.Quote(f.Path))
	}
	if _, err := s.Runner.Run(ctx, b.String(), archive); err != nil {
		return fmt.Errorf("placing files: %w", err)
	}
	return nil
}

// Restore renames what stood there before back into place, and removes files of
// which Place marked that there were none. Without either it leaves a file alone:
// Place had not come that far.
func (s Shell) Restore(ctx context.Context, p Placement) error {
	if len(p.Files) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "set -e\n[ -d %s ] || exit 0\n", shell.Quote(path.Dir(p.Files[0].Path)))
	b.WriteString(p.alone())
	for _, f := range p.Files {
		to, before, absent := shell.Quote(f.Path), p.before(f), p.absent(f)
		// mv refuses two names of one file: that file was not replaced.
		fmt.Fprintf(&b, "if [ %s -ef %s ]; then rm -f %s; elif [ -e %s ]; then mv -f %s %s; elif [ -e %s ]; then rm -f %s %s; fi\n",
			before, to, before, before, before, to, absent, to, absent)
	}
	if _, err := s.Runner.Run(ctx, b.String(), nil); err != nil {
		return fmt.Errorf("putting the previous files back: %w", err)
	}
	return nil
}

// Settle removes what Place kept.
func (s Shell) Settle(ctx context.Context, p Placement) error {
	if len(p.Files) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("rm -f")
	for _, f := range p.Files {
		b.WriteString(" " + p.before(f) + " " + p.absent(f))
	}
	if _, err := s.Runner.Run(ctx, b.String(), nil); err != nil {
		return fmt.Errorf("removing the previous files: %w", err)
	}
	return nil
}

// alone makes a script wait until no other one places or restores: one whose
// connection was cut may still run.
func (p Placement) alone() string {
	return "exec 9<" + shell.Quote(path.Dir(p.Files[0].Path)) + "\nflock -w 60 9\n"
}

func (p Placement) before(f File) string { return shell.Quote(beside(f.Path, beforeSuffix+p.ID)) }
func (p Placement) absent(f File) string { return shell.Quote(beside(f.Path, absentSuffix+p.ID)) }

func tarball(files []File, name func(File) string) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		if !path.IsAbs(f.Path) {
			return nil, fmt.Errorf("file %q: not an absolute path", f.Path)
		}
		h := &tar.Header{Name: name(f), Mode: 0o600, Size: int64(len(f.Content)), Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Path, err)
		}
		if _, err := w.Write([]byte(f.Content)); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func orRoot(s string) string {
	if s == "" {
		return "root"
	}
	return s
}

func orMode(m int64) int64 {
	if m == 0 {
		return 0o644
	}
	return m
}
