package strictyaml

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Index knows where each decoded value stands, by path.
type Index map[string]Entry

// Entry is a value's node and, for a value of a mapping, its key's.
type Entry struct {
	Key, Value *yaml.Node
}

// Has reports whether the document gives a value for the path.
func (i Index) Has(path string) bool { _, ok := i[path]; return ok }

// Find returns the entry of the path or else of its nearest ancestor, and
// whether it is the path's own.
func (i Index) Find(path string) (entry Entry, exact bool) {
	if e, ok := i[path]; ok {
		return e, true
	}
	for path != "" {
		path = Parent(path)
		if e, ok := i[path]; ok {
			return e, false
		}
	}
	return Entry{}, false
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Child is the path of a key's value in a mapping. Keys with characters that
// mean something in a path are quoted.
func Child(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// Item is the path of an item of a list.
func Item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Parent is the path of what holds the value; empty at the top.
func Parent(path string) string {
	if path == "" {
		return ""
	}
	if path[len(path)-1] == ']' {
		if path[len(path)-2] != '"' {
			for n := len(path) - 1; n >= 0; n-- {
				if path[n] == '[' {
					return path[:n]
				}
			}
			return ""
		}
		return path[:quotedStart(path)]
	}
	for n := len(path) - 1; n >= 0; n-- {
		if path[n] == '.' {
			return path[:n]
		}
	}
	return ""
}

// quotedStart finds where the quoted key that ends the path begins: the first
// bracket from which a valid quotation reaches to the end.
func quotedStart(path string) int {
	for n := range path {
		if path[n] == '[' && n+1 < len(path) && path[n+1] == '"' {
			if quoted, err := strconv.QuotedPrefix(path[n+1:]); err == nil && n+1+len(quoted)+1 == len(path) {
				return n
			}
		}
	}
	return 0
}

// Within reports whether path is inside, or is, the value at outer.
func Within(path, outer string) bool {
	if outer == "" || path == outer {
		return true
	}
	return len(path) > len(outer) && path[:len(outer)] == outer && (path[len(outer)] == '.' || path[len(outer)] == '[')
}
