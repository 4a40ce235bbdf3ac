package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var slurmTime = regexp.MustCompile(`^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$`)

// timeHint shows how Slurm writes times.
const timeHint = "minutes, hours:minutes:seconds or days-hours:minutes:seconds, as in 2-00:00:00"

// parseSlurmTime reads a duration as Slurm writes it: minutes,
// minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or
// days-hours:minutes:seconds. Unlimited is the longest one there is.
func parseSlurmTime(text string) (time.Duration, error) {
	if strings.EqualFold(text, unlimited) || strings.EqualFold(text, "INFINITE") {
		return math.MaxInt64, nil
	}
	parts := slurmTime.FindStringSubmatch(text)
	if parts == nil {
		return 0, fmt.Errorf("%q is not a time", text)
	}
	var fields []int64
	for _, part := range parts[2:] {
		if part == "" {
			break
		}
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is too long a time", text)
		}
		fields = append(fields, n)
	}
	units := [][]int64{{60}, {60, 1}, {3600, 60, 1}}[len(fields)-1]
	var seconds int64
	if parts[1] != "" {
		days, err := strconv.ParseInt(parts[1], 10, 32)
		if err != nil || days > 50000 {
			return 0, fmt.Errorf("%q is too long a time", text)
		}
		seconds = days * 86400
		units = []int64{3600, 60, 1}
	}
	for i, n := range fields {
		seconds += n * units[i]
	}
	return time.Duration(seconds) * time.Second, nil
}

// twoFields is a time of two fields, which looks like hours and minutes.
var twoFields = regexp.MustCompile(`^\d+:\d+$`)

// slurmTime checks a time that may be left out.
func (v *validator) slurmTime(path, text string) (d time.Duration, ok bool) {
	if text == "" || v.isBroken(path) {
		return 0, false
	}
	d, err := parseSlurmTime(text)
	if err != nil {
		v.add(KindInvalid, path, timeHint, err.Error())
		return 0, false
	}
	if d == 0 {
		v.add(KindInvalid, path, "leave it out for no bound", "no time at all")
		return 0, false
	}
	if twoFields.MatchString(text) {
		v.addf(KindWarning, path, fmt.Sprintf("write %s:00 for hours and minutes, %02d:%02d:%02d for what it is", text, d/time.Hour, d/time.Minute%60, d/time.Second%60),
			"%s is minutes and seconds to Slurm", text)
	}
	return d, true
}
