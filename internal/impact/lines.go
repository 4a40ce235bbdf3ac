package impact

import (
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Lines are the lines that differ between the files of two sets, under the name
// of their file: with a minus what goes, with a plus what comes.
func Lines(previous, next Set) string {
	var b strings.Builder
	for _, name := range unionKeys(previous.Files, next.Files) {
		if was, is := previous.Files[name], next.Files[name]; was != is {
			b.WriteString(name + "\n" + changedLines(was, is))
		}
	}
	return b.String()
}

func changedLines(was, is string) string {
	var b strings.Builder
	differ := diffmatchpatch.New()
	before, after, lines := differ.DiffLinesToChars(was, is)
	for _, part := range differ.DiffCharsToLines(differ.DiffMain(before, after, false), lines) {
		mark := map[diffmatchpatch.Operation]string{diffmatchpatch.DiffDelete: "  - ", diffmatchpatch.DiffInsert: "  + "}[part.Type]
		if mark == "" {
			continue
		}
		for line := range strings.Lines(part.Text) {
			b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}
