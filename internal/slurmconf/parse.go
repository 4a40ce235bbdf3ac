package slurmconf

import (
	"fmt"
	"strings"
)

// Pair is one Key=Value of a line.
type Pair struct {
	// Key as written; Slurm compares keys without regard to case.
	Key string
	// Op is "=", or "+=", "-=", "*=", "/=".
	Op string
	// Value without its quotes.
	Value string
}

// Line is one logical line: continued lines are joined, comments are gone.
type Line struct {
	// Number of its first physical line, from 1.
	Number int
	// Include is the path of an Include line, which has no pairs.
	Include string
	Pairs   []Pair
}

// Get returns the value of a key of the line, without regard to case.
func (l Line) Get(key string) (string, bool) {
	for _, p := range l.Pairs {
		if strings.EqualFold(p.Key, key) {
			return p.Value, true
		}
	}
	return "", false
}

// Is tells whether the line's first key is key, as in NodeName records.
func (l Line) Is(key string) bool {
	return len(l.Pairs) > 0 && strings.EqualFold(l.Pairs[0].Key, key)
}

// ParseError is where Slurm would refuse the whole file.
type ParseError struct {
	// Line is the physical line, from 1.
	Line int
	// Text is what Slurm cannot read there.
	Text string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("line %d: Slurm cannot read %q as Key=Value", e.Line, e.Text)
}

// Parse reads the text of a Slurm configuration file by Slurm's own rules: a
// value is in quotes or ends at a blank, a "#" starts a comment even in quotes
// unless a backslash stands before it, a backslash at the end joins lines, and
// what is left over is an error (a [*ParseError]), as it is for Slurm.
//
// Slurm lets blanks follow the "=", so that an empty value takes the next word
// for its own; Parse does the same.
func Parse(content string) ([]Line, error) {
	var out []Line
	physical := strings.Split(content, "\n")
	for i := 0; i < len(physical); {
		first := i + 1
		var text string
		text, i = logicalLine(physical, i)
		line, err := parseLine(text)
		if err != nil {
			return nil, &ParseError{Line: first, Text: err.Error()}
		}
		if len(line.Pairs) > 0 || line.Include != "" {
			line.Number = first
			out = append(out, line)
		}
	}
	return out, nil
}

// logicalLine joins the physical lines from i on that end in a backslash, and
// returns the index after them.
func logicalLine(physical []string, i int) (string, int) {
	var b strings.Builder
	for i < len(physical) {
		text := uncomment(physical[i])
		i++
		if !strings.HasSuffix(text, `\`) || i == len(physical) {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:len(text)-1])
	}
	return unescape(b.String()), i
}

// uncomment cuts the line at the first "#" with an even number of backslashes
// before it.
func uncomment(line string) string {
	slashes := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '#' && slashes%2 == 0:
			return line[:i]
		case line[i] == '\\':
			slashes++
		default:
			slashes = 0
		}
	}
	return line
}

// unescape drops each backslash and keeps what follows it.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unread is the text that a line's pairs leave over.
type unread string

func (u unread) Error() string { return string(u) }

func parseLine(text string) (Line, error) {
	var line Line
	rest := strings.TrimLeft(text, spaces)
	if len(rest) > 7 && strings.EqualFold(rest[:7], "include") && isSpace(rest[7]) {
		line.Include = strings.Trim(rest[7:], spaces)
		if line.Include == "" {
			return line, unread(strings.TrimRight(rest, spaces))
		}
		return line, nil
	}
	for rest != "" {
		pair, after, ok := parsePair(rest)
		if !ok {
			return line, unread(strings.TrimRight(rest, spaces))
		}
		line.Pairs = append(line.Pairs, pair)
		rest = strings.TrimLeft(after, spaces)
	}
	return line, nil
}

const spaces = " \t\r\v\f"

func isSpace(c byte) bool { return strings.IndexByte(spaces, c) >= 0 }

// parsePair reads one Key=Value from the start of s.
func parsePair(s string) (p Pair, rest string, ok bool) {
	end := 0
	for end < len(s) && keyByte(s[end]) {
		end++
	}
	p.Key, rest = s[:end], strings.TrimLeft(s[end:], spaces)
	if end == 0 || rest == "" {
		return p, s, false
	}
	if strings.IndexByte("+-*/", rest[0]) >= 0 {
		p.Op, rest = rest[:1], rest[1:]
	}
	if !strings.HasPrefix(rest, "=") {
		return p, s, false
	}
	p.Op += "="
	rest = strings.TrimLeft(rest[1:], spaces)
	if strings.HasPrefix(rest, `"`) {
		inner, after, closed := strings.Cut(rest[1:], `"`)
		if closed && (after == "" || isSpace(after[0])) {
			p.Value = inner
			return p, after, true
		}
	}
	end = strings.IndexAny(rest, spaces)
	if end < 0 {
		end = len(rest)
	}
	p.Value = rest[:end]
	return p, rest[end:], end > 0
}

func keyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
}
