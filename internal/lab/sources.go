package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// defaultMirror serves machines whose own apt sources are not Debian's.
const defaultMirror = "http://deb.debian.org/debian"

// debianSuite matches the names of Debian's main suites. Those of security and of updates
// live elsewhere or hold only a part.
var debianSuite = regexp.MustCompile(`^(bullseye|bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)$`)

// machineMirror returns the Debian mirror that this machine's own apt uses, so that the
// lab's images come from where the machine's packages come from.
func machineMirror() string {
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
	return chooseMirror(texts)
}

// chooseMirror returns the first mirror in texts of apt source files, in either format,
// that carries a main suite of Debian.
func chooseMirror(texts []string) string {
	for _, text := range texts {
		for _, s := range parseSources(text) {
			for _, suite := range s.suites {
				if debianSuite.MatchString(suite) && !strings.HasPrefix(s.uri, "cdrom:") {
					return strings.TrimSuffix(s.uri, "/")
				}
			}
		}
	}
	return defaultMirror
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
