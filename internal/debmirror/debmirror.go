// Package debmirror finds the Debian mirror that this machine's own apt uses,
// so that whatever is built here comes from where the machine's packages come from.
package debmirror

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Variable names a mirror, for machines whose own apt sources have none of Debian's.
const Variable = "GPUCLUSTER_DEBIAN_MIRROR"

// debianSuite matches the names of Debian's main suites. Those of security and of updates
// live elsewhere or hold only a part.
var debianSuite = regexp.MustCompile(`^(bullseye|bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)$`)

// Find returns the mirror that [Variable] names, else the first one in this
// machine's apt sources that carries a main suite of Debian.
func Find() (string, error) {
	if named := os.Getenv(Variable); named != "" {
		return strings.TrimSuffix(named, "/"), nil
	}
	var texts []string
	paths := []string{"/etc/apt/sources.list"}
	for _, pattern := range []string{"/etc/apt/sources.list.d/*.list", "/etc/apt/sources.list.d/*.sources"} {
		found, _ := filepath.Glob(pattern)
		slices.Sort(found)
		paths = append(paths, found...)
	}
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			texts = append(texts, string(text))
		}
	}
	if found := choose(texts); found != "" {
		return found, nil
	}
	return "", errors.New("this machine's apt sources name no Debian mirror: set " + Variable + " to the address of one")
}

// choose returns the first mirror in texts of apt source files, in either format,
// that carries a main suite of Debian, or "".
func choose(texts []string) string {
	for _, text := range texts {
		for _, s := range parseSources(text) {
			for _, suite := range s.suites {
				if debianSuite.MatchString(suite) && !strings.HasPrefix(s.uri, "cdrom:") {
					return strings.TrimSuffix(s.uri, "/")
				}
			}
		}
	}
	return ""
}

// aptSource is one archive that apt reads packages from.
type aptSource struct {
	uri    string
	suites []string
}

// parseSources reads one-line entries and deb822 stanzas; what is neither is passed over.
func parseSources(text string) []aptSource {
	var found []aptSource
	for stanza := range strings.SplitSeq(text, "\n\n") {
		fields := map[string][]string{}
		for line := range strings.Lines(stanza) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") {
				continue
			}
			if s, ok := parseOneLine(line); ok {
				found = append(found, s)
				continue
			}
			if key, value, ok := strings.Cut(line, ":"); ok {
				fields[strings.ToLower(key)] = strings.Fields(value)
			}
		}
		if !slices.Contains(fields["types"], "deb") || slices.Contains(fields["enabled"], "no") {
			continue
		}
		for _, uri := range fields["uris"] {
			found = append(found, aptSource{uri: uri, suites: fields["suites"]})
		}
	}
	return found
}

// parseOneLine reads "deb [options] uri suite component…".
func parseOneLine(line string) (aptSource, bool) {
	rest, ok := strings.CutPrefix(line, "deb ")
	if !ok {
		return aptSource{}, false
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "[") {
		if _, after, ok := strings.Cut(rest, "]"); ok {
			rest = after
		}
	}
	words := strings.Fields(rest)
	if len(words) < 2 {
		return aptSource{}, false
	}
	return aptSource{uri: words[0], suites: words[1:2]}, true
}
