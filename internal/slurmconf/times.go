package slurmconf

import (
	"strconv"
	"strings"
)

// ParseTime reads a time in Slurm's format: minutes, minutes:seconds,
// hours:minutes:seconds, days-hours, days-hours:minutes or
// days-hours:minutes:seconds. Unlimited ("UNLIMITED", "INFINITE") is -1.
func ParseTime(s string) (seconds int64, ok bool) {
	if strings.EqualFold(s, "UNLIMITED") || strings.EqualFold(s, "INFINITE") {
		return -1, true
	}
	days, clock, hasDays := strings.Cut(s, "-")
	if !hasDays {
		clock = s
	} else if n, err := strconv.ParseUint(days, 10, 31); err == nil {
		seconds = int64(n) * 24 * 3600
	} else {
		return 0, false
	}
	fields := strings.Split(clock, ":")
	units := map[int][]int64{1: {60}, 2: {60, 1}, 3: {3600, 60, 1}}[len(fields)]
	if hasDays {
		units = []int64{3600, 60, 1}
	}
	if units == nil || len(fields) > len(units) {
		return 0, false
	}
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 31)
		if err != nil {
			return 0, false
		}
		seconds += int64(n) * units[i]
	}
	return seconds, true
}

const timeHint = "write minutes, hours:minutes:seconds or days-hours:minutes:seconds, or UNLIMITED"

// checkTime checks a time that may be left out, and returns it in seconds.
func checkTime(r *report, path, key, value string) (int64, bool) {
	if value == "" {
		return 0, false
	}
	seconds, ok := ParseTime(value)
	if !ok {
		r.add(path, key, timeHint, "%s is %q, which is no time to Slurm", key, value)
	}
	return seconds, ok
}
