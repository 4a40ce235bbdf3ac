package volcano

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

func plainValues(t *testing.T, c queues.Cluster) map[string]any {
	t.Helper()
	values, err := Values(c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := kubeobject.AsYAML(values)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := yaml.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

func chart(t *testing.T) map[string]any {
	t.Helper()
	return kubetest.Defaults(t, kubetest.Upstream(t, "values", "volcano-v"+ChartVersion+".yaml"))
}

// TestCaseK78 checks that the chart knows every value that we give.
func TestCaseK78(t *testing.T) {
	known := chart(t)
	for _, c := range samples() {
		kubetest.KnowsValues(t, plainValues(t, c), known)
	}
	if got := kubetest.At(known, "basic", "image_tag_version"); got != "v"+ChartVersion {
		t.Errorf("the chart's images are of %v", got)
	}
	for _, image := range Images() {
		part, _, _ := strings.Cut(strings.TrimPrefix(image, "docker.io/"), ":")
		if !slices.ContainsFunc([]string{"controller", "scheduler", "admission"}, func(key string) bool {
			return kubetest.At(known, "basic", key+"_image_name") == part
		}) {
			t.Errorf("the chart has no image %s", image)
		}
	}
}

// TestCaseK65 checks that nobody's pods need Volcano's webhooks to be made, that
// these are asked about namespaces of teams alone, and that they are the chart's own.
func TestCaseK65(t *testing.T) {
	for name, c := range samples() {
		values := plainValues(t, c)
		if admissions, _ := kubetest.At(values, "custom", "enabled_admissions").(string); admissions == "" || strings.Contains(admissions, "/pods/") {
			t.Errorf("%s: admissions %q", name, admissions)
		}
		text, err := json.Marshal(kubetest.At(values, "custom", "webhooks_namespace_selector_expressions"))
		if err != nil || string(text) != `[{"key":"gpucluster/queue","operator":"In","values":["volcano"]}]` {
			t.Errorf("%s: asked where %s, %v", name, text, err)
		}
		if replicas := kubetest.At(values, "custom", "admission_replicas"); replicas != map[bool]int{true: 2, false: 1}[c.ControlPlanes > 1] {
			t.Errorf("%s: %v replicas", name, replicas)
		}
	}
	if got := kubetest.At(chart(t), "custom", "enabled_admissions"); got != admissions {
		t.Errorf("the chart's admissions are %v", got)
	}
}

// TestCaseK66 checks that Volcano has a namespace of its own, which no team can
// have, and which is there before the chart.
func TestCaseK66(t *testing.T) {
	if o := Namespace(); o.Metadata.Name != ManagerNamespace || o.Kind != "Namespace" {
		t.Errorf("it is %s", o.ID())
	}
	c := samples()["full"]
	c.Teams[0].Namespace = ManagerNamespace
	if problems := Check(c); len(problems) != 1 || problems[0].Path != "teams[0].namespace" {
		t.Errorf("a team has Volcano's namespace: %v", problems)
	}
}

func create(t *testing.T, api *kubetest.API, objects []kubeobject.Object) {
	t.Helper()
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.Create(t.Context(), text); err != nil {
			t.Errorf("%s: %v", o.ID(), err)
		}
	}
}

// TestServer puts the objects of the fullest sample to a real API server that knows
// Volcano's kinds, and tries what people of a team can run there.
func TestServer(t *testing.T) {
	folder := kubetest.Upstream(t, "crds", "volcano")
	api := kubetest.Start(t, kubetest.Controllers)
	api.Define(t, folder)
	objects, err := Objects(samples()["full"])
	if err != nil {
		t.Fatal(err)
	}
	queue, group := Probe()
	create(t, api, append([]kubeobject.Object{Namespace(), queue, group}, objects...))
	api.Eventually(t, "/api/v1/namespaces/research/serviceaccounts/default", func(map[string]any) bool { return true })
	alice := api.As("alice", "research")
	api.Soon(t, func() error {
		if err := alice.Try(t.Context(), pod("volcano", "product", "")); err == nil || !strings.Contains(err.Error(), "the queue is the team's") {
			return &kubetest.Refusal{Message: "the policy is not in force"}
		}
		return nil
	})
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"right":                  {pod("volcano", "research", ""), ""},
		"another scheduler":      {pod("default-scheduler", "research", ""), "set schedulerName"},
		"no queue":               {pod("volcano", "", ""), "the queue is the team's"},
		"another's queue":        {pod("volcano", "product", ""), "the queue is the team's"},
		"a host of one's choice": {pod("volcano", "research", `"nodeName":"a",`), "leave nodeName"},
		"the system's priority":  {pod("volcano", "research", `"priorityClassName":"system-node-critical",`), "the system's priorities"},
		"root":                   {pod("volcano", "research", `"hostNetwork":true,`), "violates PodSecurity"},
		"a group":                {object("scheduling.volcano.sh/v1beta1", "PodGroup", `{"minMember":2,"queue":"research"}`), ""},
		"a group elsewhere":      {object("scheduling.volcano.sh/v1beta1", "PodGroup", `{"minMember":2,"queue":"default"}`), "the queue is the team's"},
		"a group without":        {object("scheduling.volcano.sh/v1beta1", "PodGroup", `{"minMember":2}`), "the queue is the team's"},
		"a job":                  {job("research"), ""},
		"a job elsewhere":        {job("product"), "the queue is the team's"},
		"a queue":                {object("scheduling.volcano.sh/v1beta1", "Queue", `{"weight":1}`), "forbidden"},
	} {
		err := alice.Try(t.Context(), c.text)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// pod is one of team research that everything allows, but for what is said.
func pod(scheduler, queue, more string) []byte {
	annotations := ""
	if queue != "" {
		annotations = `,"annotations":{"scheduling.volcano.sh/queue-name":"` + queue + `"}`
	}
	return []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"research"` + annotations + `},"spec":{` + more + `"schedulerName":"` + scheduler + `",
		"securityContext":{"runAsNonRoot":true,"runAsUser":20001,"runAsGroup":20001,"seccompProfile":{"type":"RuntimeDefault"}},
		"containers":[{"name":"c","image":"i","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`)
}

func object(version, kind, spec string) []byte {
	namespace := `,"namespace":"research"`
	if kind == "Queue" {
		namespace = ""
	}
	return []byte(`{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"o"` + namespace + `},"spec":` + spec + `}`)
}

func job(queue string) []byte {
	return object("batch.volcano.sh/v1alpha1", "Job", `{"queue":"`+queue+`","minAvailable":1,"tasks":[{"replicas":1,"name":"t","template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}`)
}
