package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// dirPrefix begins the name of a session's directory; the process id follows.
const dirPrefix = "gpc-"

// sweep removes what sessions of processes that were killed left behind, since
// it holds keys. Directories of other users and of living processes stay.
func sweep(parent string) {
	dirs, err := filepath.Glob(filepath.Join(parent, dirPrefix+"*-*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		pid, err := strconv.Atoi(id)
		if err != nil || pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		found, err := os.Lstat(dir)
		if err != nil || !found.IsDir() {
			continue
		}
		if owner, ok := found.Sys().(*syscall.Stat_t); ok && int(owner.Uid) == os.Geteuid() {
			_ = os.RemoveAll(dir)
		}
	}
}
