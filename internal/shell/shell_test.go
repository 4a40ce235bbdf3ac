package shell

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestQuote(t *testing.T) {
	for _, word := range []string{"", "plain-1_2.3/x", "a b", "it's", `"quoted" $HOME $(id) \`, "new\nline", "*", "~", "-n"} {
		out, err := Exec{"sh", "-c"}.Run(context.Background(), "printf '%s' "+Quote(word), nil)
		if err != nil || string(out) != word {
			t.Errorf("the shell reads %q as %q (%v)", word, out, err)
		}
	}
}

func TestExec(t *testing.T) {
	local := Exec{"sh", "-c"}
	out, err := local.Run(context.Background(), "cat; echo lost >&2; exit 3", []byte("kept"))
	var failed *ExitError
	if !errors.As(err, &failed) || failed.Status != 3 || failed.Stderr != "lost\n" || string(out) != "kept" {
		t.Errorf("got %q, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := local.Run(ctx, "exec sleep 60", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a command that was cut gives %v", err)
	}
}
