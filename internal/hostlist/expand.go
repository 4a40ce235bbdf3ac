package hostlist

// Expand returns the names that expr stands for, in the order written and with
// repetitions kept. Names are separated by commas or blanks; each may hold
// several bracket pairs, of which the leftmost varies slowest.
// An empty expression is no names. The error is an [*Error].
//
// Text after the last bracket ("ib[1-4]-mgmt") is accepted, although Slurm
// itself reads it only from 23.11 on: Compress never writes it.
func Expand(expr string) ([]string, error) {
	var names []string
	err := eachToken(expr, func(t token) error {
		var err error
		names, err = t.expand(names)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Count returns how many names expr stands for, without making them.
func Count(expr string) (int, error) {
	total := 0
	err := eachToken(expr, func(t token) error {
		n, err := t.count()
		if err != nil {
			return err
		}
		if total += n; total > MaxHosts {
			return t.fail(0, TooMany, "")
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return total, nil
}

// Check reports what is wrong with a single plain name, as an [*Error], or nil.
func Check(name string) error {
	t := token{expr: name, text: name}
	if name == "" {
		return t.fail(0, Empty, "")
	}
	if err := t.checkLiteral(0, name); err != nil {
		return err
	}
	return checkWhole(t, name)
}

// token is one comma-separated piece of an expression and where it starts.
type token struct {
	expr  string
	start int
	text  string
}

func (t token) fail(offset int, k Kind, text string) *Error {
	return &Error{Expr: t.expr, Offset: t.start + offset, Kind: k, Text: text}
}

// eachToken splits expr at commas and blanks outside brackets. Blanks may be
// repeated and may stand beside a comma; a comma needs a name on both sides.
func eachToken(expr string, visit func(token) error) error {
	depth, start, comma := 0, -1, -1
	named := false // a name was seen since the last comma
	for i := 0; i <= len(expr); i++ {
		if i < len(expr) {
			switch expr[i] {
			case '[':
				depth++
			case ']':
				depth--
			}
			if depth > 0 || expr[i] != ',' && !blank(expr[i]) {
				if start < 0 {
					start = i
				}
				continue
			}
		}
		if start >= 0 {
			if err := visit(token{expr: expr, start: start, text: expr[start:i]}); err != nil {
				return err
			}
			start, named = -1, true
		}
		if i < len(expr) && expr[i] == ',' {
			if !named {
				return &Error{Expr: expr, Offset: i, Kind: Empty}
			}
			comma, named = i, false
		}
	}
	if comma >= 0 && !named {
		return &Error{Expr: expr, Offset: comma, Kind: Empty}
	}
	return nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
