package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// capabilityNames are Linux's capabilities by bit number, without the prefix CAP_.
var capabilityNames = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
	"SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW",
	"IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT",
	"SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD",
	"LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
	"WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
}

// missingCapabilities returns the capabilities that the bounding set in the text of
// /proc/<pid>/status lacks. A container that asks for one of them cannot start, which is
// why --privileged fails on such machines.
func missingCapabilities(status string) ([]string, error) {
	for line := range strings.Lines(status) {
		hex, ok := strings.CutPrefix(line, "CapBnd:")
		if !ok {
			continue
		}
		set, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the capability bounding set: %w", err)
		}
		var lacking []string
		for bit, name := range capabilityNames {
			if set&(1<<bit) == 0 {
				lacking = append(lacking, name)
			}
		}
		return lacking, nil
	}
	return nil, fmt.Errorf("reading the capability bounding set: no CapBnd line")
}
