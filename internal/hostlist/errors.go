package hostlist

import "fmt"

// Kind says what is wrong with an expression or a name.
type Kind string

// The kinds of [Error].
const (
	Empty       Kind = "empty name"
	BadChar     Kind = "character not allowed in a host name"
	Unclosed    Kind = "\"[\" without \"]\""
	Unopened    Kind = "\"]\" without \"[\""
	EmptyRange  Kind = "empty range"
	NotANumber  Kind = "range bound is not a number"
	Reversed    Kind = "range runs backwards"
	TooWide     Kind = "range stands for too many hosts"
	TooMany     Kind = "expression stands for too many hosts"
	TooLong     Kind = "name is too long"
	TooManyNums Kind = "number at the end of the name is too long for Slurm"
)

// Error is a problem in an expression.
type Error struct {
	// Expr is the whole expression, Offset the byte at which the problem stands.
	Expr   string
	Offset int
	Kind   Kind
	// Text is the part of the expression that is wrong; may be empty.
	Text string
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("host list %q, byte %d: %s", clip(e.Expr), e.Offset, e.Kind)
	}
	return fmt.Sprintf("host list %q, byte %d: %s: %q", clip(e.Expr), e.Offset, e.Kind, clip(e.Text))
}

// Hint is what to write instead, or empty.
func (e *Error) Hint() string {
	switch e.Kind {
	case Empty:
		return "remove the extra comma"
	case BadChar:
		return "use letters, digits, \"-\", \"_\" and \".\""
	case Unclosed, Unopened:
		return "write ranges as gpu[001-016]"
	case EmptyRange, NotANumber:
		return "write numbers, first-last or a list of both: [1-4,7]"
	case Reversed:
		return "put the lower number first"
	case TooWide, TooMany:
		return fmt.Sprintf("name at most %d hosts", MaxHosts)
	case TooLong:
		return fmt.Sprintf("use at most %d bytes", MaxName)
	case TooManyNums:
		return fmt.Sprintf("use at most %d digits at the end, or end the name in a letter", MaxDigits)
	}
	return ""
}

func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return s[:77] + "..."
}
