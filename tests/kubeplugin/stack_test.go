// Package kubeplugin runs real stacks on Pulumi's Kubernetes plugin, against real API
// servers, and against what is none.
package kubeplugin

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
)

// stack is a Pulumi stack with a state of its own.
type stack struct {
	auto.Stack
	t *testing.T
}

// needTools has the pinned tools found, or skips the test where they are missing.
func needTools(t *testing.T) {
	t.Helper()
	tools, err := filepath.Abs("../../.tools/bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, program := range []string{"pulumi", "pulumi-resource-kubernetes", "pulumi-resource-command"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv(labtest.RequireVariable) == "required" {
				t.Fatal(err)
			}
			t.Skipf("needs the pinned tools, which make tools ENV=lab-kubernetes builds: %v", err)
		}
	}
}

// newStack makes an empty one of a program.
func newStack(t *testing.T, program pulumi.RunFunc) *stack {
	t.Helper()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	made, err := auto.NewStackInlineSource(t.Context(), "test", "kubeplugin", program,
		auto.WorkDir(dir), auto.PulumiHome(filepath.Join(dir, "home")),
		auto.EnvVars(map[string]string{
			"PULUMI_BACKEND_URL": "file://" + state, "PULUMI_CONFIG_PASSPHRASE": "correct horse", "PULUMI_SKIP_UPDATE_CHECK": "true",
			"TMPDIR": dir, // where the plugin leaves kubeconfigs
		}))
	if err != nil {
		t.Fatal(err)
	}
	return &stack{made, t}
}

// holds tells whether the state has a resource of that name.
func (s *stack) holds(name string) bool {
	s.t.Helper()
	state, err := s.Export(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes.Contains(state.Deployment, []byte("::"+name+`"`))
}

// Each of these returns what Pulumi printed.

func (s *stack) preview() (string, error) {
	var log bytes.Buffer
	_, err := s.Preview(context.Background(), optpreview.ProgressStreams(&log), optpreview.ErrorProgressStreams(&log))
	return log.String(), err
}

func (s *stack) up() (string, error) {
	var log bytes.Buffer
	_, err := s.Up(context.Background(), optup.ProgressStreams(&log), optup.ErrorProgressStreams(&log))
	return log.String(), err
}

func (s *stack) refresh() (string, error) {
	var log bytes.Buffer
	_, err := s.Refresh(context.Background(), optrefresh.ProgressStreams(&log), optrefresh.ErrorProgressStreams(&log))
	return log.String(), err
}

func (s *stack) destroy() (string, error) {
	var log bytes.Buffer
	_, err := s.Destroy(context.Background(), optdestroy.ProgressStreams(&log), optdestroy.ErrorProgressStreams(&log))
	return log.String(), err
}

// patient is how long an API server may take to answer, in seconds, as in
// components/kubernetes.
const patient = 20

// provider reaches a cluster as components/kubernetes does.
func provider(ctx *pulumi.Context, kubeconfig string, limit int) (*kubernetes.Provider, error) {
	return kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{
		Kubeconfig: pulumi.ToSecret(pulumi.String(kubeconfig)).(pulumi.StringOutput), ClusterIdentifier: pulumi.String("one"),
		KubeClientSettings: kubernetes.KubeClientSettingsArgs{Timeout: pulumi.Int(limit)},
	})
}
