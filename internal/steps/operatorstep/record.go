package operatorstep

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// RecordSpec names a release of Helm.
type RecordSpec struct {
	Namespace string `json:"namespace"`
	Release   string `json:"release"`
}

// RecordResult is what was done about Helm's record of a release.
type RecordResult struct {
	// Ours tells that there was no release of this name before ours.
	Ours bool `json:"ours"`
	// Repairs is the count of repairs at which the record was last judged.
	Repairs string `json:"repairs"`
}

// record looks for a release before ours is installed, and after a run that was cut
// off takes away what Helm still knows of its unfinished work, without which Helm
// does nothing more. The release's objects stay, and are taken over by the next
// installation. A release that was there before ours is left alone.
func record(ctx context.Context, in *step.Input) (any, error) {
	var spec RecordSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	var before RecordResult
	again, err := in.Previous(&before)
	if err != nil {
		return nil, err
	}
	repairs := in.Getenv(step.EnvHeal)
	if again && before.Repairs == repairs {
		// It runs for another reason, a new kubeconfig, say.
		return before, nil
	}
	revisions, err := spec.revisions(ctx, in)
	if err != nil {
		return nil, err
	}
	if !again || !before.Ours {
		return RecordResult{Ours: len(revisions) == 0, Repairs: repairs}, nil
	}
	api, err := client(in)
	if err != nil {
		return nil, err
	}
	for _, r := range cutOff(revisions) {
		in.Logf("%s: an earlier run was cut off at release %s (%s): Helm's record of it goes, its objects stay", spec.Namespace, spec.Release, r.status())
		if err := api.Delete(ctx, spec.path()+"/"+r.Metadata.Name); err != nil {
			return nil, fmt.Errorf("removing Helm's record of release %s: %w", spec.Release, err)
		}
	}
	return RecordResult{Ours: true, Repairs: repairs}, nil
}

// probeRecord finds an upgrade that was cut off. One that is at work elsewhere holds
// the stack's lock, so that nobody asks meanwhile.
func probeRecord(ctx context.Context, in *step.Input) error {
	var spec RecordSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	revisions, err := spec.revisions(ctx, in)
	if err != nil {
		return nil // the cluster is asked for elsewhere
	}
	for _, r := range revisions {
		if r.pending() {
			return fmt.Errorf("a run was cut off while Helm was at release %s (%s)", spec.Release, r.status())
		}
	}
	return nil
}

// cutOff are the revisions that go: those that Helm takes for still at work, or,
// where there is none, all of a release that nobody knows of.
func cutOff(revisions []revision) []revision {
	var pending []revision
	for _, r := range revisions {
		if r.pending() {
			pending = append(pending, r)
		}
	}
	if len(pending) > 0 {
		return pending
	}
	return revisions
}

// revision is the secret in which Helm keeps one state of a release.
type revision struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
}

func (r revision) status() string { return r.Metadata.Labels["status"] }

func (r revision) pending() bool {
	switch r.status() {
	case "pending-install", "pending-upgrade", "pending-rollback", "uninstalling":
		return true
	}
	return false
}

func (s RecordSpec) path() string { return "/api/v1/namespaces/" + s.Namespace + "/secrets" }

func (s RecordSpec) revisions(ctx context.Context, in *step.Input) ([]revision, error) {
	api, err := client(in)
	if err != nil {
		return nil, err
	}
	text, err := api.Get(ctx, s.path()+"?labelSelector="+url.QueryEscape("owner=helm,name="+s.Release))
	if err != nil {
		return nil, fmt.Errorf("looking for release %s: %w", s.Release, err)
	}
	var found struct {
		Items []revision `json:"items"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("reading Helm's record of release %s: %w", s.Release, err)
	}
	return found.Items, nil
}
