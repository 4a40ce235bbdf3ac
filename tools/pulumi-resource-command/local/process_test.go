package local

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorder collects the messages that commands log; without a Pulumi engine they go to the default logger.
type recorder struct {
	slog.Handler
	sync.Mutex
	messages []string
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.Lock()
	defer r.Unlock()
	r.messages = append(r.messages, record.Message)
	return nil
}

func (r *recorder) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *recorder) WithGroup(string) slog.Handler      { return r }

func (r *recorder) all() []string {
	r.Lock()
	defer r.Unlock()
	return append([]string(nil), r.messages...)
}

func record(t *testing.T) *recorder {
	r := &recorder{}
	before := slog.Default()
	slog.SetDefault(slog.New(r))
	t.Cleanup(func() { slog.SetDefault(before) })
	return r
}

func TestLogging(t *testing.T) {
	ptr := func(l Logging) *Logging { return &l }
	long := strings.Repeat("y", 200_000)
	cases := map[string]struct {
		command string
		logging *Logging
		want    []string
	}{
		"both by default": {command: "echo a; sleep 0.2; echo b >&2", want: []string{"a", "b"}},
		"both":            {command: "echo a; sleep 0.2; echo b >&2", logging: ptr(LogStdoutAndStderr), want: []string{"a", "b"}},
		"stdout":          {command: "echo a; echo b >&2", logging: ptr(LogStdout), want: []string{"a"}},
		"stderr":          {command: "echo a; echo b >&2", logging: ptr(LogStderr), want: []string{"b"}},
		"none":            {command: "echo a; echo b >&2", logging: ptr(LogNone)},
		"whole lines":     {command: "printf 'one '; sleep 0.2; printf 'line\nthe rest'", want: []string{"one line", "the rest"}},
		"long lines":      {command: "head -c 200000 /dev/zero | tr '\\0' y", want: []string{long}},
		"of a failure":    {command: "echo a; exit 1", want: []string{"a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			recorder := record(t)
			_ = run(context.Background(), c.command, BaseInputs{Logging: c.logging}, &BaseOutputs{})
			if got := recorder.all(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("logged %.100q, want %.100q", got, c.want)
			}
		})
	}
}

func TestLinesAreShownWhileTheCommandRuns(t *testing.T) {
	recorder := record(t)
	release := filepath.Join(t.TempDir(), "release")
	done := make(chan error, 1)
	go func() {
		done <- run(context.Background(), "echo early; while [ ! -e "+release+" ]; do sleep 0.05; done", BaseInputs{}, &BaseOutputs{})
	}()
	eventually(t, "the first line", func() bool { return len(recorder.all()) == 1 })
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestCancel(t *testing.T) {
	cases := map[string]struct {
		command  string
		grace    time.Duration
		wantFile string // what the command wrote to $FILE when it was told to stop
		within   time.Duration
	}{
		"a command ends by itself": {
			command:  `trap 'echo stopped >$FILE; exit 1' INT; echo up >$FILE; while :; do sleep 0.1; done`,
			grace:    20 * time.Second,
			wantFile: "stopped\n",
			within:   10 * time.Second,
		},
		"a child is told too": {
			command:  `sh -c 'trap "echo child stopped >$FILE; exit 1" INT; echo up >$FILE; while :; do sleep 0.1; done'; true`,
			grace:    20 * time.Second,
			wantFile: "child stopped\n",
			within:   10 * time.Second,
		},
		"one that does not listen is killed": {
			command:  `trap '' INT; echo up >$FILE; sleep 60`,
			grace:    300 * time.Millisecond,
			wantFile: "up\n",
			within:   10 * time.Second,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := grace
			grace = c.grace
			t.Cleanup(func() { grace = before })
			file := filepath.Join(t.TempDir(), "file")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				done <- run(ctx, c.command, BaseInputs{Environment: &map[string]string{"FILE": file}}, &BaseOutputs{})
			}()
			eventually(t, "the command to run", func() bool { content, _ := os.ReadFile(file); return string(content) == "up\n" })
			start := time.Now()
			cancel()
			err := <-done
			if err == nil || !strings.Contains(err.Error(), "canceled") {
				t.Errorf("error %v, want one that says canceled", err)
			}
			if took := time.Since(start); took > c.within {
				t.Errorf("it took %v", took)
			}
			if content, _ := os.ReadFile(file); string(content) != c.wantFile {
				t.Errorf("the command wrote %q, want %q", content, c.wantFile)
			}
		})
	}
}

func TestKillAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	done := make(chan error, 1)
	go func() {
		done <- run(context.Background(), `(trap '' INT TERM; echo up >$FILE; sleep 60) & wait`,
			BaseInputs{Environment: &map[string]string{"FILE": file}}, &BaseOutputs{})
	}()
	eventually(t, "the command to run", func() bool { content, _ := os.ReadFile(file); return string(content) == "up\n" })
	KillAll()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("error %v, want one that says killed", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a child survived")
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
