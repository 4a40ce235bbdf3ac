package lab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

const (
	// inotifyFile bounds how many watches of files one user may begin. The hosts
	// of all labs are one user to the kernel; one of Kubernetes begins about
	// forty, and the kernel's default is 128.
	inotifyFile = "/proc/sys/fs/inotify/max_user_instances"
	// inotifyLeast serves about a hundred hosts.
	inotifyLeast = 4096
)

// raiseInotify raises the bound in the file, where it is lower. A bound that may
// not be raised is told, and no error: a small lab works with it.
func raiseInotify(file string, progress io.Writer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading how many files may be watched: %w", err)
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if now >= inotifyLeast {
		return nil
	}
	err = os.WriteFile(file, []byte(strconv.Itoa(inotifyLeast)), 0o644)
	switch {
	case errors.Is(err, fs.ErrPermission):
		fmt.Fprintf(progress, "lab: daemons of many hosts may fail, since %s is %d and may not be raised: have root write %d there\n", file, now, inotifyLeast)
		return nil
	case err != nil:
		return fmt.Errorf("raising how many files may be watched: %w", err)
	}
	fmt.Fprintf(progress, "lab: raised %s from %d to %d\n", file, now, inotifyLeast)
	return nil
}
