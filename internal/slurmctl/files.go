package slurmctl

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
)

// File is a configuration file of the controller.
type File struct {
	// Path where it goes, absolute.
	Path string
	// Content, byte for byte.
	Content string
	// Mode, for example 0o644; 0 is that.
	Mode int64
	// Owner and Group by name. Default "root".
	Owner, Group string
}

// Host is what an activation needs done on the controllers, besides asking
// slurmctld: for one controller [Shell] does it.
type Host interface {
	// Place puts the files where they go, each one whole or not at all, and
	// keeps those that stood there. Files that are equal are left alone.
	Place(ctx context.Context, files []File) error
	// Restore puts back what the last Place replaced and removes what it added.
	Restore(ctx context.Context, files []File) error
	// StartController starts slurmctld; one that runs goes on.
	StartController(ctx context.Context) error
	// StopController stops slurmctld and waits until it is gone.
	StopController(ctx context.Context) error
}

// Shell is a Host by way of shell commands and systemd.
type Shell struct {
	// Runner reaches the host.
	Runner Runner
	// Start and Stop are the commands for slurmctld. Default: systemctl. Stop
	// must return after the daemon is gone.
	Start, Stop string
}

// StartController starts slurmctld.
func (s Shell) StartController(ctx context.Context) error {
	cmd := s.Start
	if cmd == "" {
		// A unit that failed too often is refused until its count is reset.
		cmd = "systemctl reset-failed slurmctld 2>/dev/null; systemctl start slurmctld"
	}
	if _, err := s.Runner.Run(ctx, cmd, nil); err != nil {
		return fmt.Errorf("starting slurmctld: %w", err)
	}
	return nil
}

// StopController stops slurmctld.
func (s Shell) StopController(ctx context.Context) error {
	cmd := s.Stop
	if cmd == "" {
		cmd = "systemctl stop slurmctld"
	}
	if _, err := s.Runner.Run(ctx, cmd, nil); err != nil {
		return fmt.Errorf("stopping slurmctld: %w", err)
	}
	return nil
}

// The suffixes of the files beside a placed one, dotted so that no glob takes
// them for configuration: the new content, the previous content, and the mark
// that there was none.
const (
	newSuffix    = ".gpucluster-new"
	beforeSuffix = ".gpucluster-before"
	absentSuffix = ".gpucluster-absent"
)

func beside(p, suffix string) string {
	return path.Join(path.Dir(p), "."+path.Base(p)+suffix)
}

// Place writes all files beside their places first, so that a full disk is
// found before anything changed, then renames one by one.
func (s Shell) Place(ctx context.Context, files []File) error {
	if len(files) == 0 {
		return nil
	}
	archive, err := tarball(files, func(f File) string {
		return strings.TrimPrefix(beside(f.Path, newSuffix), "/")
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("set -e\numask 077\n")
	var news []string
	for _, f := range files {
		news = append(news, beside(f.Path, newSuffix))
		fmt.Fprintf(&b, "mkdir -p -m 755 %s\n", Quote(path.Dir(f.Path)))
	}
	fmt.Fprintf(&b, "trap '%s' EXIT\n", strings.ReplaceAll(Words(append([]string{"rm", "-f"}, news...)...), "'", `'\''`))
	// On a full disk tar does not say why it fails.
	fmt.Fprintf(&b, "tar -x -P -f - -C / --no-same-owner || { df -P %s >&2; exit 1; }\n", Quote(path.Dir(files[0].Path)))
	for _, f := range files {
		fmt.Fprintf(&b, "chown %s:%s %s\nchmod %o %s\n", Quote(orRoot(f.Owner)), Quote(orRoot(f.Group)),
			Quote(beside(f.Path, newSuffix)), orMode(f.Mode), Quote(beside(f.Path, newSuffix)))
	}
	b.WriteString(Words(append([]string{"sync"}, news...)...) + "\n")
	// All previous content is safe before the first file is replaced.
	for _, f := range files {
		to, before, absent := Quote(f.Path), Quote(beside(f.Path, beforeSuffix)), Quote(beside(f.Path, absentSuffix))
		fmt.Fprintf(&b, "rm -f %s %s\n", before, absent)
		fmt.Fprintf(&b, "if [ -e %s ]; then cp -p %s %s; else : >%s; fi\n", to, to, before, absent)
	}
	for _, f := range files {
		fmt.Fprintf(&b, "mv -f %s %s\n", Quote(beside(f.Path, newSuffix)), Quote(f.Path))
	}
	if _, err := s.Runner.Run(ctx, b.String(), archive); err != nil {
		return fmt.Errorf("placing files: %w", err)
	}
	return nil
}

// Restore renames what stood there before back into place, and removes files of
// which Place marked that there were none. Without either it leaves a file alone:
// Place had not come that far.
func (s Shell) Restore(ctx context.Context, files []File) error {
	var b strings.Builder
	b.WriteString("set -e\n")
	for _, f := range files {
		to, before, absent := Quote(f.Path), Quote(beside(f.Path, beforeSuffix)), Quote(beside(f.Path, absentSuffix))
		fmt.Fprintf(&b, "if [ -e %s ]; then mv -f %s %s; elif [ -e %s ]; then rm -f %s %s; fi\n",
			before, before, to, absent, to, absent)
	}
	if _, err := s.Runner.Run(ctx, b.String(), nil); err != nil {
		return fmt.Errorf("putting the previous files back: %w", err)
	}
	return nil
}

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

// Hosts are several controllers as one, in the order in which their slurmctld
// start: the primary first.
type Hosts []Host

// Place places the files on every controller.
func (h Hosts) Place(ctx context.Context, files []File) error {
	for _, one := range h {
		if err := one.Place(ctx, files); err != nil {
			return err
		}
	}
	return nil
}

// Restore restores every controller, also after one could not be.
func (h Hosts) Restore(ctx context.Context, files []File) error {
	var all []error
	for _, one := range h {
		all = append(all, one.Restore(ctx, files))
	}
	return errors.Join(all...)
}

// StartController starts every slurmctld.
func (h Hosts) StartController(ctx context.Context) error {
	for _, one := range h {
		if err := one.StartController(ctx); err != nil {
			return err
		}
	}
	return nil
}

// StopController stops every slurmctld, the primary last: else a backup
// would take over between the two.
func (h Hosts) StopController(ctx context.Context) error {
	for i := len(h) - 1; i >= 0; i-- {
		if err := h[i].StopController(ctx); err != nil {
			return err
		}
	}
	return nil
}
