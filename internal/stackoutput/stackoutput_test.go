package stackoutput

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// standIn puts a pulumi on PATH that writes its arguments to a file and
// answers as told.
func standIn(t *testing.T, script string) (arguments string) {
	t.Helper()
	dir := t.TempDir()
	arguments = filepath.Join(dir, "arguments")
	text := "#!/bin/sh\necho \"$*\" >'" + arguments + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "pulumi"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return arguments
}

func TestRead(t *testing.T) {
	const targets = `"targets":"[{\"name\":\"ctl1\",\"address\":\"192.0.2.1\"}]"`
	for name, c := range map[string]struct {
		script string
		want   string
	}{
		"a stack":                        {`echo '{"name":"e","controllers":["ctl1"],"smoke":"{\"host\":\"the smoke job\",\"status\":\"ready\"}",` + targets + `}'`, ""},
		"outputs that are not known yet": {`echo '{"name":"e",` + targets + `,"more":{"x":1}}'`, ""},
		"not built to its end":           {`echo '{"name":"e"}'`, `stack "e" has no output "targets"`},
		"no such stack":                  {`echo "error: no stack named 'e' found" >&2; exit 255`, "no stack named 'e' found"},
		"no answer":                      {`echo 'not JSON'`, "reading what pulumi says about e"},
	} {
		t.Run(name, func(t *testing.T) {
			arguments := standIn(t, c.script)
			outputs, err := Read(context.Background(), "e")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if err == nil && outputs.Name != "e" {
				t.Errorf("outputs %+v", outputs)
			}
			said, err := os.ReadFile(arguments)
			if err != nil || !strings.Contains(string(said), "stack output --stack e --json") {
				t.Errorf("pulumi was asked %q, %v", said, err)
			}
		})
	}
}

func TestWithoutPulumi(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Read(context.Background(), "e"); err == nil || !strings.Contains(err.Error(), "make status ENV=e") {
		t.Errorf("error %v", err)
	}
}

func TestConnect(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not installed")
	}
	session, err := Outputs{Targets: `[{"name":"ctl1","address":"192.0.2.1","trustOnFirstUse":true}]`}.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if target, ok := session.Target("ctl1"); !ok || target.Address != "192.0.2.1" || !target.TrustOnFirstUse {
		t.Errorf("ctl1 is reached by %+v, %v", target, ok)
	}
	if _, err := (Outputs{Targets: "{"}).Connect(context.Background()); err == nil {
		t.Error("targets that cannot be read are taken")
	}
}

func TestSmokeOutcome(t *testing.T) {
	for text, want := range map[string]bool{`{"host":"the smoke job","status":"ready"}`: true, ``: false, `{}`: false} {
		if _, ok := (Outputs{Smoke: text}).SmokeOutcome(); ok != want {
			t.Errorf("%q is an outcome: %v", text, ok)
		}
	}
}
