package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// Report is everything that was found in one stack file, in the order of the
// lines.
type Report struct {
	// File as given to Load.
	File string
	// Problems found, warnings included.
	Problems []Problem

	waiting  bool // some checks were left out because of what is wrong
	lines    []string
	withheld map[int]bool // lines that may hold a secret, from 1
}

func newReport(file string, content []byte) *Report {
	return &Report{File: file, lines: strings.Split(string(content), "\n"), withheld: map[int]bool{}}
}

// Errors are the problems that must be solved.
func (r *Report) Errors() []Problem { return r.only(false) }

// Warnings are the problems that are only worth knowing.
func (r *Report) Warnings() []Problem { return r.only(true) }

// Failed reports whether there are errors.
func (r *Report) Failed() bool { return len(r.Errors()) > 0 }

// Err is the report as an error, or nil when there are no errors.
func (r *Report) Err() error {
	if r.Failed() {
		return r
	}
	return nil
}

// Error is the text of the report.
func (r *Report) Error() string { return r.String() }

const (
	// longest is how many problems a report shows.
	longest = 200
	// widest is how much of a line a report shows.
	widest = 200
)

// String writes the problems with their lines, a caret and a hint, and what
// they amount to. After the first 200 the others are counted.
func (r *Report) String() string {
	var b strings.Builder
	for i, p := range r.Problems {
		if i == longest {
			b.WriteString("and " + count(len(r.Problems)-longest, "more problem") + "\n\n")
			break
		}
		r.write(&b, p)
	}
	if len(r.Problems) > 0 {
		b.WriteString(count(len(r.Errors()), "problem") + ", " + count(len(r.Warnings()), "warning") + "\n")
	}
	if r.waiting {
		b.WriteString("some checks wait until these are corrected\n")
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *Report) only(warnings bool) []Problem {
	return slices.DeleteFunc(slices.Clone(r.Problems), func(p Problem) bool { return p.Warning() != warnings })
}

func (r *Report) write(b *strings.Builder, p Problem) {
	b.WriteString(p.String() + "\n")
	if text, ok := r.snippet(p); ok {
		text, column := window(text, p.Column)
		number := fmt.Sprintf("%5d", p.Line)
		fmt.Fprintf(b, "%s | %s\n", number, text)
		fmt.Fprintf(b, "%*s | %s^\n", len(number), "", blank(text, column-1))
	}
	if p.Hint != "" {
		b.WriteString("  hint: " + p.Hint + "\n")
	}
	b.WriteString("\n")
}

// snippet is the line of a problem as far as it may be shown: what stands in
// place of a secret, or behind a key that means nothing, could be one.
func (r *Report) snippet(p Problem) (string, bool) {
	if p.Line < 1 || p.Line > len(r.lines) || p.Kind == KindSyntax {
		return "", false
	}
	line := strings.TrimRight(r.lines[p.Line-1], "\r")
	runes := []rune(line)
	if p.Column < 1 || p.Column > len(runes)+1 {
		return "", false
	}
	if !r.withheld[p.Line] {
		return line, true
	}
	before := string(runes[:p.Column-1])
	if strings.ContainsAny(before, "{[") {
		return "", false
	}
	if p.Kind == KindSecret {
		return before + "...", true
	}
	key, _, _ := strings.Cut(string(runes[p.Column-1:])+" ", ": ")
	return before + key + ": ...", p.Kind == KindUnknownKey || p.Kind == KindDuplicate
}

// window is the part of a long line round a column, and that column in it.
func window(line string, column int) (string, int) {
	runes := []rune(line)
	if len(runes) <= widest {
		return line, column
	}
	from := max(0, min(column-widest/2, len(runes)-widest))
	text := string(runes[from : from+widest])
	if from > 0 {
		text = "..." + text
		column += len("...")
	}
	if from+widest < len(runes) {
		text += "..."
	}
	return text, column - from
}

// blank is as wide as the first n characters of a line: tabs stay tabs.
func blank(line string, n int) string {
	var b strings.Builder
	for _, c := range line {
		if n--; n < 0 {
			break
		}
		if c == '\t' {
			b.WriteRune(c)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (r *Report) add(p Problem) {
	p.File = r.File
	r.Problems = append(r.Problems, p)
}

func (r *Report) sorted() *Report {
	sortProblems(r.Problems)
	return r
}

func (r *Report) addDecodedOne(p strictyaml.Problem, starts []int) {
	hint := p.Hint
	switch Kind(p.Kind) {
	case KindSecret:
		hint = secretHint(r.File, p.Path)
		r.withhold(p.Line, starts)
	case KindUnknownKey, KindDuplicate:
		r.withhold(p.Line, starts)
	}
	r.add(Problem{Kind: Kind(p.Kind), Line: p.Line, Column: p.Column, Path: p.Path, What: p.What, Hint: hint})
}

// addDecoded takes over the problems of decoding, and returns a function that
// tells whether a path is affected by one: judging such a value again would
// only repeat the problem in other words.
func (r *Report) addDecoded(problems []strictyaml.Problem, index strictyaml.Index) func(path string) bool {
	if len(problems) == 0 {
		return func(string) bool { return false }
	}
	starts := r.starts(index)
	var affected []string
	for _, p := range problems {
		r.addDecodedOne(p, starts)
		affected = append(affected, p.Path)
		if p.Meant != "" {
			affected = append(affected, p.Meant)
		}
	}
	return func(path string) bool { return related(path, affected) }
}

// withhold hides the lines of a value: from where it begins to the next line
// that begins with another.
func (r *Report) withhold(line int, starts []int) {
	next := len(r.lines) + 1
	if i, _ := slices.BinarySearch(starts, line+1); i < len(starts) {
		next = starts[i]
	}
	for ; line < next; line++ {
		r.withheld[line] = true
	}
}

// starts lists the lines that begin with a key or a value, in order.
func (r *Report) starts(index strictyaml.Index) []int {
	var lines []int
	for _, entry := range index {
		for _, node := range []*yaml.Node{entry.Key, entry.Value} {
			if node != nil && r.begins(node) {
				lines = append(lines, node.Line)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// begins tells whether a node is the first thing on its line.
func (r *Report) begins(node *yaml.Node) bool {
	if node.Line > len(r.lines) {
		return false
	}
	before := []rune(r.lines[node.Line-1])
	return node.Column-1 <= len(before) && strings.Trim(string(before[:node.Column-1]), " -") == ""
}

// addValidated gives the problems of validation their place in the file.
func (r *Report) addValidated(problems []Problem, index strictyaml.Index) {
	for _, p := range problems {
		entry, exact := index.Find(p.Path)
		at := entry.Value
		if entry.Key != nil && (!exact || p.atKey || at.Kind != yaml.ScalarNode) {
			at = entry.Key
		}
		p.Line, p.Column = at.Line, at.Column
		if exact {
			p.Column += r.within(at, p.Offset)
		}
		if p.Kind == KindSecret {
			r.withhold(p.Line, r.starts(index))
		}
		r.add(p)
	}
}

// within is the number of characters from the start of a scalar in the file to
// the byte of its value; 0 where the value is not written plainly.
func (r *Report) within(node *yaml.Node, offset int) int {
	if offset <= 0 || offset > len(node.Value) || node.Line < 1 || node.Line > len(r.lines) {
		return 0
	}
	runes := []rune(r.lines[node.Line-1])
	if node.Column < 1 || node.Column > len(runes) {
		return 0
	}
	rest := string(runes[node.Column-1:])
	quotes := 0
	if node.Style == yaml.DoubleQuotedStyle || node.Style == yaml.SingleQuotedStyle {
		quotes, rest = 1, rest[1:]
	}
	if !strings.HasPrefix(rest, node.Value) {
		return 0
	}
	return quotes + utf8.RuneCountInString(node.Value[:offset])
}
