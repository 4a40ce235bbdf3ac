package slurmconf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// extraFiles are the files that take extra keys.
var extraFiles = []string{"slurm.conf", "cgroup.conf", "slurmdbd.conf", "job_container.conf"}

// checkExtra checks the extra keys of every file.
func checkExtra(r *report, c Cluster) {
	for _, file := range slices.Sorted(maps.Keys(c.Extra)) {
		path := fmt.Sprintf("extra.%q", file)
		r.in(file, func() {
			switch {
			case file == "gres.conf":
				r.add(path, "", "set the GPUs of the nodes", "gres.conf takes no extra keys")
			case !contains(extraFiles, file):
				r.add(path, "", "files with extra keys: "+strings.Join(extraFiles, ", "), "no file %q", file)
			case file == "slurmdbd.conf" && (c.Accounting == nil || c.Accounting.External):
				r.add(path, "", "change it where slurmdbd runs", "this cluster writes no slurmdbd.conf")
			case file == "job_container.conf" && c.PrivateTmp == nil:
				r.add(path, "", "set privateTmp", "this cluster writes no job_container.conf")
			default:
				checkKeys(r, path, file, c.Extra[file], c.Version, c.reader())
			}
		})
	}
}

// reader is the oldest release that reads the files.
func (c Cluster) reader() Version {
	if c.OldestReader.IsZero() {
		return c.Version
	}
	return c.OldestReader
}

// checkKeys checks extra keys against a table, for every release that reads
// them.
func checkKeys(r *report, path, table string, extra map[string]string, versions ...Version) {
	seen := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		at, low := path+"."+key, strings.ToLower(key)
		if other, twice := seen[low]; twice {
			r.add(at, key, "keep one", "%s and %s are one key to Slurm", other, key)
			continue
		}
		seen[low] = key
		if checkKey(r, at, table, key, versions) {
			checkValue(r, at, key, extra[key], keyTables()[table][low].kind)
			if table == "slurm.conf" {
				checkTokens(r, at, key, extra[key], versions...)
				checkGoneTokens(r, at, key, extra[key], versions)
			}
		}
	}
}

// checkKey checks that a key may stand in a file, and reports why not.
func checkKey(r *report, at, table, key string, versions []Version) bool {
	low := strings.ToLower(key)
	if hint, secret := secretKeys[low]; secret {
		r.add(at, key, hint, "%s is a secret, and this file is not", key)
		return false
	}
	if old, is := gone[low]; is {
		for _, v := range versions {
			if v.AtLeast(old.since) {
				r.add(at, key, old.instead, "%s has no use in Slurm %s", key, v)
				return false
			}
		}
	}
	if hint, ours := owned[table][low]; ours {
		r.add(at, key, hint, "%s is written by the toolkit", key)
		return false
	}
	info, known := keyTables()[table][low]
	if !known {
		r.add(at, key, didYouMean(key, keyTables()[table]), "no release of Slurm has a key %q here", key)
		return false
	}
	for _, v := range versions {
		if !info.in(v) {
			r.add(at, key, "take it out"+whenHint(info), "%s is not in Slurm %s, which would refuse the whole file", key, v)
			return false
		}
	}
	if info.kind == "ignored" {
		r.advise(at, key, "leave it out", "Slurm reads %s and does nothing with it", key)
	}
	return true
}

// checkValue checks what Slurm's parser would read otherwise than it is meant.
func checkValue(r *report, at, key, value, kind string) {
	switch {
	case strings.TrimSpace(value) == "":
		r.add(at, key, "leave the key out", "%s is empty: Slurm would take the next word for its value", key)
	case strings.Contains(value, `"`) || hasControl(value):
		r.add(at, key, "write it without", "%s has a quote, a tab or a line break in it, which Slurm cannot read", key)
	case strings.Contains(value, "#"):
		r.add(at, key, "write it without", "%s has a \"#\" in it, where a comment would start", key)
	case strings.Contains(value, `\`):
		r.add(at, key, "write it without", "%s has a backslash in it, which Slurm drops", key)
	case strings.TrimSpace(value) != value:
		r.add(at, key, "write it without", "%s begins or ends in a blank", key)
	case kind == "number" && !isNumber(value), kind == "real" && !isReal(value):
		r.add(at, key, "write a number", "%s is %q", key, value)
	case kind == "bool" && !contains([]string{"yes", "no", "up", "down", "true", "false", "1", "0"}, strings.ToLower(value)):
		r.add(at, key, "write yes or no", "%s is %q", key, value)
	}
}

func checkGoneTokens(r *report, at, key, value string, versions []Version) {
	for _, token := range strings.Split(value, ",") {
		old, is := goneTokens[strings.ToLower(key+"/"+strings.TrimSpace(token))]
		for _, v := range versions {
			if is && v.AtLeast(old.since) {
				r.add(at, key, old.instead, "Slurm %s no longer heeds %q of %s", v, token, key)
				break
			}
		}
	}
}

func isNumber(s string) bool {
	if strings.EqualFold(s, "INFINITE") || strings.EqualFold(s, "UNLIMITED") {
		return true
	}
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

func isReal(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	return err == nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
