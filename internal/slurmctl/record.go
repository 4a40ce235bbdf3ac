package slurmctl

import (
	"strings"
)

// record is one line of `scontrol show ... -o`: Key=value pairs in the order
// that Slurm writes them.
type record map[string]string

// parseRecord cuts a one-line record at each word of the form Key=. Values may
// hold blanks (OS, Reason, Comment). Keys in stop swallow the rest of the line:
// they hold free text, which must not be read as further keys. The first
// value of a key stands.
func parseRecord(line string, stop ...string) record {
	rec := record{}
	key, start := "", 0
	put := func(end int) {
		if _, seen := rec[key]; key != "" && !seen {
			rec[key] = strings.TrimSpace(line[start:end])
		}
	}
	for i := 0; i < len(line); {
		if i > 0 && line[i-1] != ' ' {
			i++
			continue
		}
		n := keyLength(line[i:])
		if n == 0 {
			i++
			continue
		}
		put(i)
		key, start = line[i:i+n], i+n+1
		i = start
		for _, s := range stop {
			if key == s {
				put(len(line))
				return rec
			}
		}
	}
	put(len(line))
	return rec
}

// keyLength is the length of the key that s starts with, 0 if s does not
// start with a key and an equals sign.
func keyLength(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z', c == '_' && i > 0, c >= 'a' && c <= 'z' && i > 0, c >= '0' && c <= '9' && i > 0:
			continue
		case c == '=' && i > 0:
			return i
		}
		return 0
	}
	return 0
}

// value returns a field, with Slurm's words for "nothing" as "".
func (r record) value(key string) string {
	v := r[key]
	switch v {
	case "(null)", "N/A", "n/a", "None", "NONE":
		return ""
	}
	return v
}

// lines returns the lines of out that hold something.
func lines(out string) []string {
	var keep []string
	for _, l := range strings.Split(out, "\n") {
		l = strings.TrimRight(l, "\r ")
		if strings.TrimSpace(l) != "" {
			keep = append(keep, l)
		}
	}
	return keep
}
