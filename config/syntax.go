package config

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var (
	yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	// What YAML's parser says, as opposed to its scanner: it counts lines from 0.
	countedFromZero = regexp.MustCompile(`^did not find expected (?:node content|key|'-' indicator|',' or '[}\]]'|<)`)
	// Of these it tells where the block begins, not where it goes wrong.
	outOfBlock = regexp.MustCompile(`^did not find expected (?:key|'-' indicator)`)
	// Within { } and [ ], brackets begin a list unless they are quoted.
	bareHostList = regexp.MustCompile(`[{\[,:]\s*([A-Za-z][A-Za-z0-9-]*\[[0-9,-]+\])`)
)

// syntax adds what the YAML parser says.
func (r *Report) syntax(err error) {
	parts := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	p := Problem{Kind: KindSyntax, Column: 1, What: "not YAML: " + parts[2],
		Hint: "look at this line and the one before: indentation is blanks, never tabs; quotes and brackets are closed"}
	line, atoiErr := strconv.Atoi(parts[1])
	switch {
	case atoiErr != nil:
		line = 1
	case outOfBlock.MatchString(parts[2]):
		line = r.firstWith(err)
	case countedFromZero.MatchString(parts[2]):
		line++
	}
	p.Line = max(line, 1)
	if column, list := r.bareHostList(p.Line); list != "" {
		p.Column, p.Hint = column, `within { } and [ ] a host list is quoted: "`+list+`"`
	}
	r.add(p)
}

// firstWith is the line with which the file begins to have that error.
func (r *Report) firstWith(err error) int {
	return 1 + sort.Search(len(r.lines)-1, func(i int) bool {
		var document yaml.Node
		found := yaml.Unmarshal([]byte(strings.Join(r.lines[:i+1], "\n")), &document)
		return found != nil && found.Error() == err.Error()
	})
}

// bareHostList is a host list without quotes within the brackets of a line, and
// its column.
func (r *Report) bareHostList(number int) (column int, list string) {
	if number > len(r.lines) {
		return 0, ""
	}
	line := r.lines[number-1]
	begin := strings.IndexAny(line, "{[")
	if begin < 0 {
		return 0, ""
	}
	at := bareHostList.FindStringSubmatchIndex(line[begin:])
	if at == nil {
		return 0, ""
	}
	return utf8.RuneCountInString(line[:begin+at[2]]) + 1, line[begin+at[2] : begin+at[3]]
}
