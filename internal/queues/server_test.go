package queues

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// defineKueue makes Kueue's custom resource definitions, and waits until they
// are served.
func defineKueue(t *testing.T, api *kubetest.API) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(kueueModule(t), "config", "components", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no definitions of Kueue", err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		made, err := api.Create(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, kubetest.At(made, "metadata", "name").(string))
	}
	for _, name := range names {
		api.Eventually(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, func(o map[string]any) bool {
			text, _ := json.Marshal(kubetest.At(o, "status", "conditions"))
			return strings.Contains(string(text), `"status":"True","type":"Established"`)
		})
		plural, _, _ := strings.Cut(name, ".")
		api.Eventually(t, "/apis/"+kueueAPI+"/"+plural, func(map[string]any) bool { return true })
	}
}

func create(t testing.TB, api *kubetest.API, objects []Object) {
	t.Helper()
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		made, err := api.Create(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", o.ID(), err)
			continue
		}
		var sent any
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		if changed := changed("", sent, made); changed != "" {
			t.Errorf("%s is not kept as it was sent, so that each update would send it again: %s", o.ID(), changed)
		}
	}
}

// changed says what of an object a server has written in another way.
func changed(at string, sent, made any) string {
	switch sent := sent.(type) {
	case map[string]any:
		fields, _ := made.(map[string]any)
		for key, value := range sent {
			if difference := changed(at+"."+key, value, fields[key]); difference != "" {
				return difference
			}
		}
	case []any:
		list, _ := made.([]any)
		if len(list) != len(sent) {
			return fmt.Sprintf("%s has %d entries, not %d", at, len(list), len(sent))
		}
		for i, value := range sent {
			if difference := changed(fmt.Sprintf("%s[%d]", at, i), value, list[i]); difference != "" {
				return difference
			}
		}
	default:
		if sent != made {
			return fmt.Sprintf("%s is %v, not %v", at, made, sent)
		}
	}
	return ""
}

// TestServerTakesEveryObject puts the objects of each sample to a real API server
// that knows Kueue's kinds and refuses fields that it does not know.
func TestServerTakesEveryObject(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			api := kubetest.Start(t)
			defineKueue(t, api)
			objects, err := Objects(c)
			if err != nil {
				t.Fatal(err)
			}
			create(t, api, objects)
		})
	}
}

// pod is one of team research that everything allows, but for what changes.
func pod(changes ...string) []byte {
	text := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"research"},"spec":{
		"securityContext":{"runAsNonRoot":true,"runAsUser":20001,"runAsGroup":20001,"seccompProfile":{"type":"RuntimeDefault"}},
		"containers":[{"name":"c","image":"i","securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}}`
	return []byte(strings.NewReplacer(changes...).Replace(text))
}

// makes is what makes such a pod, of a kind of batch or apps.
func makes(group, kind string, pod []byte) []byte {
	selector := `"selector":{"matchLabels":{"a":"b"}},`
	if group == "batch" {
		selector = ""
	}
	return fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"%s","metadata":{"name":"m","namespace":"research"},"spec":{%s"template":%s}}`, group, kind, selector,
		strings.NewReplacer(`"apiVersion":"v1","kind":"Pod",`, ``, `"name":"p","namespace":"research"`, `"labels":{"a":"b"}`).Replace(string(pod)))
}

// TestPolicies checks what people of a team can run, with Pod Security lifted, so
// that the policies alone refuse.
func TestPolicies(t *testing.T) {
	api := kubetest.Start(t, kubetest.Controllers)
	defineKueue(t, api)
	objects, err := Objects(samples()["lab"])
	if err != nil {
		t.Fatal(err)
	}
	create(t, api, objects)
	api.Eventually(t, "/api/v1/namespaces/research/serviceaccounts/default", func(map[string]any) bool { return true })
	alice := api.As("alice", "research")
	const (
		containers = `"containers":[`
		wrongUser  = "set runAsUser of the pod or of each container to an id of team research: 20001"
	)
	spec := func(more string) []byte { return pod(containers, more+`,`+containers) }
	if err := api.Try(t.Context(), spec(`"hostNetwork":true`)); err == nil || !strings.Contains(err.Error(), "violates PodSecurity") {
		t.Errorf("a pod in the host's network: %v", err)
	}
	if _, err := api.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/research", []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}}`)); err != nil {
		t.Fatal(err)
	}
	refusedSoon(t, alice, pod(`"runAsUser":20001`, `"runAsUser":20002`))
	for name, c := range map[string]struct {
		pod  []byte
		want string
	}{
		"right":                       {pod(), ""},
		"another's uid":               {pod(`"runAsUser":20001`, `"runAsUser":20002`), wrongUser},
		"root":                        {pod(`"runAsNonRoot":true,"runAsUser":20001`, `"runAsUser":0`), wrongUser},
		"no uid":                      {pod(`"runAsUser":20001,`, ``), wrongUser},
		"no security context":         {pod(`"securityContext":{"runAsNonRoot"`, `"nodeSelector":{},"securityContext":{"runAsNonRoot"`, `"runAsUser":20001,"runAsGroup":20001,`, ``), wrongUser},
		"a uid of the container":      {pod(`"runAsUser":20001,`, ``, `{"allowPr`, `{"runAsUser":20001,"allowPr`), ""},
		"another's, of the container": {pod(`{"allowPr`, `{"runAsUser":20002,"allowPr`), wrongUser},
		"another's, at the beginning": {spec(`"initContainers":[{"name":"i","image":"i","securityContext":{"runAsUser":0}}]`), wrongUser},
		"another's group":             {pod(`"runAsGroup":20001`, `"runAsGroup":20002`), "set runAsGroup"},
		"no group":                    {pod(`"runAsGroup":20001,`, ``), "set runAsGroup"},
		"the team's fsGroup":          {pod(`"runAsGroup"`, `"fsGroup":20001,"runAsGroup"`), ""},
		"another's fsGroup":           {pod(`"runAsGroup"`, `"fsGroup":20002,"runAsGroup"`), "leave fsGroup out"},
		"the team's further groups":   {pod(`"runAsGroup"`, `"supplementalGroups":[20001],"runAsGroup"`), ""},
		"another's further groups":    {pod(`"runAsGroup"`, `"supplementalGroups":[20001,20002],"runAsGroup"`), "as supplementalGroups"},
		"a hostPath":                  {spec(`"volumes":[{"name":"v","hostPath":{"path":"/etc"}}]`), "cannot be a hostPath"},
		"an empty volume":             {spec(`"volumes":[{"name":"v","emptyDir":{}}]`), ""},
		"a priority of the system":    {spec(`"priorityClassName":"system-node-critical"`), "name a WorkloadPriorityClass"},
		"part of another's job": {pod(`"name":"p"`, `"name":"p","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"1"}]`),
			"leave ownerReferences"},
		"another namespace":      {pod(`"namespace":"research"`, `"namespace":"product"`), "forbidden"},
		"a right Job":            {makes("batch", "Job", pod(containers, `"restartPolicy":"Never",`+containers)), ""},
		"a Job as root":          {makes("batch", "Job", pod(`"runAsUser":20001`, `"runAsUser":0`, containers, `"restartPolicy":"Never",`+containers)), wrongUser},
		"a right Deployment":     {makes("apps", "Deployment", pod()), ""},
		"a Deployment of nobody": {makes("apps", "Deployment", pod(`"runAsUser":20001,`, ``)), wrongUser},
		"a StatefulSet's groups": {makes("apps", "StatefulSet", pod(`"runAsGroup"`, `"fsGroup":20002,"runAsGroup"`)), "leave fsGroup out"},
	} {
		err := alice.Try(t.Context(), c.pod)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	claims(t, api, alice)
}

// refusedSoon waits until policies are in force, some moments after they were made.
func refusedSoon(t *testing.T, api *kubetest.API, pod []byte) {
	t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = api.Try(t.Context(), pod); err != nil && strings.Contains(err.Error(), "gpucluster-team-") {
			return
		}
	}
	t.Fatalf("no policy is in force after a minute: %v", err)
}

// claims checks that devices cannot be asked for in a way that queues do not
// count. A quota is in force once the controller-manager has counted what there
// is; until then the API server passes it over.
func claims(t *testing.T, api, alice *kubetest.API) {
	t.Helper()
	api.Eventually(t, "/api/v1/namespaces/research/resourcequotas/gpucluster-queue", func(quota map[string]any) bool {
		status, _ := quota["status"].(map[string]any)
		used, _ := status["used"].(map[string]any)
		return used["count/resourceclaims.resource.k8s.io"] == "0"
	})
	err := alice.Try(t.Context(), []byte(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"r","namespace":"research"},
		"spec":{"devices":{"requests":[{"name":"g","exactly":{"deviceClassName":"gpu"}}]}}}`))
	if err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a resource claim: %v", err)
	}
}
