package stepresource_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
)

// registered is the one resource that a program with these arguments has.
func registered(t *testing.T, args stepresource.Args) pulumi.MockResourceArgs {
	t.Helper()
	r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		_, err := stepresource.New(ctx, "r", args)
		return err
	})
	return r.Command("r")
}

func TestCommands(t *testing.T) {
	got := registered(t, stepresource.Args{Step: "watch", Spec: struct{}{}})
	for property, want := range map[string]string{
		"create": "gpucluster step watch apply", "update": "gpucluster step watch apply", "delete": "gpucluster step watch remove",
		"stdin": "{}\n", "logging": "stderr",
	} {
		if text := got.Inputs[resource.PropertyKey(property)].StringValue(); text != want {
			t.Errorf("%s is %q, want %q", property, text, want)
		}
	}
	if got.Inputs["addPreviousOutputInEnv"].BoolValue() {
		t.Error("the previous output is given to a step that did not ask for it")
	}
	if got := pulumitest.Entry(got, "GPUCLUSTER_HEAL"); got != "0" {
		t.Errorf("the count of repairs is %q, want 0", got)
	}
}

func TestSecretResult(t *testing.T) {
	got := registered(t, stepresource.Args{Step: "key", Spec: struct{}{}, SecretResult: true})
	if logging := got.Inputs["logging"].StringValue(); logging != "none" {
		t.Errorf("what the step prints is logged: %s", logging)
	}
	if outputs := got.RegisterRPC.GetAdditionalSecretOutputs(); len(outputs) != 1 || outputs[0] != "stdout" {
		t.Errorf("secret outputs are %v", outputs)
	}
}

// TestEnvironment checks which entries a step gets, and which of them are
// secret.
func TestEnvironment(t *testing.T) {
	host := connection.Connection{Name: "h1"}
	for name, c := range map[string]struct {
		args   stepresource.Args
		entry  string
		want   string
		secret bool
	}{
		"repairs":                     {stepresource.Args{Heal: 3}, "GPUCLUSTER_HEAL", "3", false},
		"toolkit":                     {stepresource.Args{Toolkit: "d"}, "GPUCLUSTER_TOOLKIT", "d", false},
		"no toolkit":                  {stepresource.Args{}, "GPUCLUSTER_TOOLKIT", "", false},
		"no targets":                  {stepresource.Args{}, "GPUCLUSTER_TARGETS", "", false},
		"known later":                 {stepresource.Args{Later: map[string]pulumi.StringInput{"X": pulumi.String("x")}}, "X", "x", false},
		"a secret":                    {stepresource.Args{Secrets: map[string]pulumi.StringInput{"WORD": pulumi.String("w")}}, "GPUCLUSTER_SECRET_WORD", "w", true},
		"the private key":             {stepresource.Args{Targets: []connection.Connection{{Name: "h1", PrivateKey: pulumi.String("k")}}}, "GPUCLUSTER_SECRET_SSH_KEY", "k", true},
		"no private key":              {stepresource.Args{Targets: []connection.Connection{host}}, "GPUCLUSTER_SECRET_SSH_KEY", "", false},
		"hosts that are never anew":   {stepresource.Args{Targets: []connection.Connection{host}}, "GPUCLUSTER_INSTANCES", "", false},
		"hosts that can be made anew": {stepresource.Args{Targets: []connection.Connection{host, {Name: "h2", Instance: pulumi.String("i-7")}}}, "GPUCLUSTER_INSTANCES", "h2=i-7", false},
	} {
		t.Run(name, func(t *testing.T) {
			c.args.Step, c.args.Spec = "watch", struct{}{}
			got := registered(t, c.args)
			if text := pulumitest.Entry(got, c.entry); text != c.want {
				t.Errorf("%s is %q, want %q", c.entry, text, c.want)
			}
			shown := c.want != "" && strings.Contains(pulumitest.Clear(got.Inputs["environment"].ObjectValue()[resource.PropertyKey(c.entry)]), c.want)
			if c.want != "" && shown == c.secret {
				t.Errorf("%s is shown: %v", c.entry, shown)
			}
		})
	}
}

// TestPrivateKeysDiffer checks that a step whose hosts have different keys, of
// which it could use one alone, is refused when that is known.
func TestPrivateKeysDiffer(t *testing.T) {
	with := func(name, key string) connection.Connection {
		return connection.Connection{Name: name, PrivateKey: pulumi.String(key).ToStringOutput()}
	}
	for name, c := range map[string]struct {
		targets []connection.Connection
		differ  bool
	}{
		"one key":    {[]connection.Connection{with("h1", "k"), with("h2", "k")}, false},
		"two keys":   {[]connection.Connection{with("h1", "k"), with("h2", "l")}, true},
		"one has no": {[]connection.Connection{{Name: "h1"}, with("h2", "k")}, true},
	} {
		err := (&pulumitest.Recorder{}).Run("s", func(ctx *pulumi.Context) error {
			_, err := stepresource.New(ctx, "r", stepresource.Args{Step: "watch", Spec: struct{}{}, Targets: c.targets})
			return err
		})
		if c.differ != (err != nil && strings.Contains(err.Error(), "h1 and h2 have different ones")) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestTargets checks that connections arrive as the step reads them.
func TestTargets(t *testing.T) {
	got := registered(t, stepresource.Args{Step: "watch", Spec: struct{}{}, Targets: []connection.Connection{
		{Name: "h1"},
		{Name: "h2", Address: pulumi.String("10.0.0.2"), Port: 2222, User: "u", Bastion: "b", TrustOnFirstUse: true, HostKeys: pulumi.StringArray{pulumi.String("ssh-ed25519 AAAA")}},
	}})
	var targets []remote.Target
	if err := json.Unmarshal([]byte(pulumitest.Entry(got, "GPUCLUSTER_TARGETS")), &targets); err != nil {
		t.Fatal(err)
	}
	if len(targets) != 2 || targets[0].Name != "h1" || targets[0].Address != "h1" || targets[0].TrustOnFirstUse {
		t.Fatalf("targets %+v", targets)
	}
	if h := targets[1]; h.Address != "10.0.0.2" || h.Port != 2222 || h.User != "u" || h.Bastion != "b" || !h.TrustOnFirstUse || len(h.HostKeys) != 1 {
		t.Errorf("h2 is reached by %+v", h)
	}
}

func TestEncode(t *testing.T) {
	for name, c := range map[string]struct {
		spec any
		want string
	}{
		"keys in order":            {map[string]any{"b": 1, "a": "x"}, "{\n  \"a\": \"x\",\n  \"b\": 1\n}\n"},
		"signs stay as they are":   {map[string]any{"a": "<&>"}, "{\n  \"a\": \"<&>\"\n}\n"},
		"a file keeps its newline": {map[string]string{"f": "x\ny\n"}, "{\n  \"f\": \"x\\ny\\n\"\n}\n"},
	} {
		got, err := stepresource.Encode(c.spec)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	if _, err := stepresource.Encode(map[string]any{"f": func() {}}); err == nil {
		t.Error("a function is encoded")
	}
}
