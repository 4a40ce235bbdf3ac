package hostlist

import (
	"strconv"
	"strings"
)

// part is literal text followed by a bracket pair; ranges is nil for the text
// after the last pair.
type part struct {
	text   string
	ranges []span
	offset int
}

// span is lo to hi, written with at least width digits.
type span struct {
	lo, hi uint64
	width  int
}

func (s span) size() uint64 { return s.hi - s.lo + 1 }

// parts reads the token's literals and ranges.
func (t token) parts() ([]part, error) {
	if t.text == "" {
		return nil, t.fail(0, Empty, "")
	}
	var out []part
	for at := 0; at < len(t.text); {
		rest := t.text[at:]
		open := strings.IndexByte(rest, '[')
		literal := rest
		if open >= 0 {
			literal = rest[:open]
		}
		if err := t.checkLiteral(at, literal); err != nil {
			return nil, err
		}
		if open < 0 {
			return append(out, part{text: literal, offset: at}), nil
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, t.fail(at+open, Unclosed, rest[open:])
		}
		ranges, err := t.ranges(at+open+1, rest[open+1:end])
		if err != nil {
			return nil, err
		}
		out = append(out, part{text: literal, ranges: ranges, offset: at})
		at += end + 1
	}
	return out, nil
}

func (t token) checkLiteral(at int, s string) error {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == ']' {
			return t.fail(at+i, Unopened, "")
		}
		if !nameByte(c) {
			return t.fail(at+i, BadChar, string([]rune(s[i:])[:1]))
		}
		if at+i == 0 && c == '-' {
			return t.fail(0, BadChar, "-")
		}
	}
	return nil
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// ranges reads what stands between brackets, which starts at offset at.
func (t token) ranges(at int, s string) ([]span, error) {
	if s == "" {
		return nil, t.fail(at, EmptyRange, "")
	}
	var out []span
	total := uint64(0)
	for _, piece := range strings.Split(s, ",") {
		if piece == "" {
			return nil, t.fail(at, EmptyRange, "")
		}
		lo, hi, dash := strings.Cut(piece, "-")
		if !dash {
			hi = lo
		}
		low, err := t.number(at, lo)
		if err != nil {
			return nil, err
		}
		high, err := t.number(at+len(piece)-len(hi), hi)
		if err != nil {
			return nil, err
		}
		if high < low {
			return nil, t.fail(at, Reversed, piece)
		}
		r := span{low, high, len(lo)}
		if total += r.size(); r.size() > MaxRange || total > MaxRange {
			return nil, t.fail(at, TooWide, piece)
		}
		out = append(out, r)
		at += len(piece) + 1
	}
	return out, nil
}

func (t token) number(at int, s string) (uint64, error) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, t.fail(at, NotANumber, s)
	}
	if len(s) > MaxDigits {
		return 0, t.fail(at, TooManyNums, s)
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, t.fail(at, NotANumber, s)
	}
	return n, nil
}

func (t token) count() (int, error) {
	parts, err := t.parts()
	if err != nil {
		return 0, err
	}
	return t.product(parts)
}

func (t token) product(parts []part) (int, error) {
	n := uint64(1)
	for _, p := range parts {
		if p.ranges == nil {
			continue
		}
		size := uint64(0)
		for _, r := range p.ranges {
			size += r.size()
		}
		if n *= size; n > MaxHosts {
			return 0, t.fail(0, TooMany, t.text)
		}
	}
	return int(n), nil
}

// expand appends the token's names.
func (t token) expand(names []string) ([]string, error) {
	parts, err := t.parts()
	if err != nil {
		return nil, err
	}
	n, err := t.product(parts)
	if err != nil {
		return nil, err
	}
	if len(names)+n > MaxHosts {
		return nil, t.fail(0, TooMany, t.text)
	}
	if n == 1 && len(parts) == 1 && parts[0].ranges == nil {
		if err := checkWhole(t, t.text); err != nil {
			return nil, err
		}
		return append(names, t.text), nil
	}
	var buf [MaxName + MaxDigits]byte
	return t.walk(names, parts, buf[:0])
}

// walk appends every name that starts with prefix and goes on with parts.
func (t token) walk(names []string, parts []part, prefix []byte) ([]string, error) {
	if len(parts) == 0 {
		name := string(prefix)
		if err := checkWhole(t, name); err != nil {
			return nil, err
		}
		return append(names, name), nil
	}
	p := parts[0]
	prefix = append(prefix, p.text...)
	if p.ranges == nil {
		return t.walk(names, parts[1:], prefix)
	}
	var err error
	for _, r := range p.ranges {
		for n := r.lo; n <= r.hi; n++ {
			if names, err = t.walk(names, parts[1:], appendPadded(prefix, n, r.width)); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

func appendPadded(b []byte, n uint64, width int) []byte {
	digits := 1
	for m := n; m >= 10; m /= 10 {
		digits++
	}
	for ; digits < width; digits++ {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, n, 10)
}

// checkWhole checks what only a finished name shows.
func checkWhole(t token, name string) error {
	if len(name) > MaxName {
		return t.fail(0, TooLong, name)
	}
	digits := 0
	for i := len(name) - 1; i >= 0 && name[i] >= '0' && name[i] <= '9'; i-- {
		digits++
	}
	if digits > MaxDigits {
		return t.fail(0, TooManyNums, name)
	}
	return nil
}
