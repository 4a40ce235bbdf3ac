package slurmconf

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"text/template"

	"github.com/gpucluster/pulumi-gpucluster/templates"
)

// fileTemplates are the templates with stand-ins for the functions that each
// rendering binds to its own file.
var fileTemplates = template.Must(template.New("").Funcs((&settings{}).funcs()).ParseFS(templates.FS, "slurm/*.tmpl"))

// settings writes the Key=Value lines of one file. Extra keys take the place of
// defaults and follow at the end; those that a list takes in are added to it.
type settings struct {
	file  string
	extra map[string]string
	used  map[string]bool
}

// renderTemplate executes the file's template and tidies its blank lines.
func renderTemplate(file string, extra map[string]string, data any) (string, error) {
	s := &settings{file: file, extra: map[string]string{}, used: map[string]bool{}}
	for k, v := range extra {
		s.extra[strings.ToLower(k)] = k + "=" + quote(v)
	}
	t, err := fileTemplates.Clone()
	if err != nil {
		return "", fmt.Errorf("preparing %s: %w", file, err)
	}
	var b bytes.Buffer
	if err := t.Funcs(s.funcs()).ExecuteTemplate(&b, file+".tmpl", data); err != nil {
		return "", fmt.Errorf("writing %s: %w", file, err)
	}
	return tidy(b.String()), nil
}

func (s *settings) funcs() template.FuncMap {
	return template.FuncMap{
		"header":  func() string { return header(s.file) },
		"own":     s.own,
		"default": s.orExtra,
		"list":    s.list,
		"extra":   s.rest,
		"number":  number,
		"yes":     yes,
		"noyes":   noYes,
	}
}

// leftOut stands for a line that is not written, which [tidy] tells from a
// blank line of the template.
const leftOut = "\x00"

// own writes a key that only we set; an empty value leaves it out.
func (s *settings) own(key, value string) string {
	if value == "" {
		return leftOut
	}
	return key + "=" + quote(value)
}

// orExtra writes a key that the site may set otherwise.
func (s *settings) orExtra(key, value string) string {
	if line, ok := s.extra[strings.ToLower(key)]; ok {
		s.used[strings.ToLower(key)] = true
		return line
	}
	return s.own(key, value)
}

// list writes a key whose value is a list that the site may add to.
func (s *settings) list(key, value string) string {
	line, ok := s.extra[strings.ToLower(key)]
	if !ok {
		return s.own(key, value)
	}
	s.used[strings.ToLower(key)] = true
	_, more, _ := strings.Cut(line, "=")
	return s.own(key, mergeTokens(value, strings.Trim(more, `"`)))
}

// rest writes the extra keys that no line has taken, by name.
func (s *settings) rest() string {
	var lines []string
	for k, line := range s.extra {
		if !s.used[k] {
			lines = append(lines, line)
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// mergeTokens adds the tokens of more that are not in list yet.
func mergeTokens(list, more string) string {
	var out []string
	seen := map[string]bool{}
	for _, t := range append(strings.Split(list, ","), strings.Split(more, ",")...) {
		if t = strings.TrimSpace(t); t != "" && !seen[strings.ToLower(t)] {
			seen[strings.ToLower(t)] = true
			out = append(out, t)
		}
	}
	return strings.Join(out, ",")
}

// quote puts a value with blanks, or an empty one, in quotes.
func quote(value string) string {
	if value == "" || strings.ContainsAny(value, " \t") {
		return `"` + value + `"`
	}
	return value
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func noYes(no bool) string {
	if no {
		return "no"
	}
	return "yes"
}

// tidy drops comments that nothing follows (not the header), joins runs of blank lines and ends
// the text in one newline.
func tidy(text string) string {
	var out []string
	text = strings.ReplaceAll(text, leftOut+"\n", "")
	for _, block := range strings.Split(text, "\n\n") {
		var lines []string
		bare := true
		for _, line := range strings.Split(block, "\n") {
			if line = strings.TrimRight(line, " \t"); line != "" {
				lines = append(lines, line)
				bare = bare && strings.HasPrefix(line, "#")
			}
		}
		if len(lines) > 0 && (!bare || len(out) == 0) {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}
