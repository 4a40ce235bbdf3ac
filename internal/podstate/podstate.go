// Package podstate tells why pods do not run, from what a cluster says of them: the
// status that their kubelet gives them, and the warnings about them.
//
// The usual path is [Troubles] with what the API has of pods and events.
package podstate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	// mostPods are told of; with more, the reason is seldom another one.
	mostPods = 5
	// mostLetters are told of one message.
	mostLetters = 400
)

// Status is that of a pod, as far as it tells why the pod does not run.
type Status struct {
	Phase      string      `json:"phase"`
	Reason     string      `json:"reason"`
	Message    string      `json:"message"`
	Conditions []Condition `json:"conditions"`
	// Init are the containers that run one after the other before the others.
	Init       []Container `json:"initContainerStatuses"`
	Containers []Container `json:"containerStatuses"`
}

// Condition is something that is true of a pod, or is not.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Container is one of a pod.
type Container struct {
	State struct {
		Waiting *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
	} `json:"state"`
}

// Why is what keeps a pod from running, where something does.
func (s Status) Why() string {
	var why []string
	add := func(reason, message string) {
		if text := said(reason, message); text != "" && !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	add(s.Reason, s.Message)
	for _, condition := range s.Conditions {
		if condition.Status == "False" && condition.Message != "" {
			add(condition.Reason, condition.Message)
		}
	}
	for _, container := range append(slices.Clone(s.Init), s.Containers...) {
		if waiting := container.State.Waiting; waiting != nil {
			add(waiting.Reason, waiting.Message)
		}
	}
	return strings.Join(why, "; ")
}

// works tells that a pod runs and serves, or has done its work.
func (s Status) works() bool {
	return s.Phase == "Succeeded" || slices.ContainsFunc(s.Conditions, func(c Condition) bool { return c.Type == "Ready" && c.Status == "True" })
}

// Troubles tells of pods that do not run what keeps them from it, a line each: what
// their status says, and the last warning about them, which is often the kubelet's
// only word of a container that it cannot make. Both lists are JSON as the API
// gives them. It is empty where all pods run.
func Troubles(pods, events []byte) (string, error) {
	var all struct {
		Items []struct {
			Metadata named  `json:"metadata"`
			Status   Status `json:"status"`
			Spec     struct {
				Node string `json:"nodeName"`
			} `json:"spec"`
		} `json:"items"`
	}
	if err := json.Unmarshal(pods, &all); err != nil {
		return "", fmt.Errorf("reading pods: %w", err)
	}
	warnings, err := warningsOf(events)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, pod := range all.Items {
		if pod.Status.works() {
			continue
		}
		why := []string{pod.Status.Why()}
		if warning := warnings[pod.Metadata]; !strings.Contains(why[0], warning) {
			why = append(why, warning)
		}
		line := pod.Metadata.Namespace + "/" + pod.Metadata.Name
		if pod.Spec.Node != "" {
			line += " on " + pod.Spec.Node
		}
		line = strings.TrimSuffix(line+" is "+pod.Status.Phase+": "+strings.Trim(strings.Join(why, "; "), "; "), ": ")
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if more := len(lines) - mostPods; more > 0 {
		lines = append(lines[:mostPods], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}

// named is an object of a namespace.
type named struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// warningsOf has the last warning about each pod.
func warningsOf(events []byte) (map[named]string, error) {
	var all struct {
		Items []struct {
			Type    string `json:"type"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
			Last    string `json:"lastTimestamp"`
			About   struct {
				Kind string `json:"kind"`
				named
			} `json:"involvedObject"`
		} `json:"items"`
	}
	if err := json.Unmarshal(events, &all); err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	warnings, last := map[named]string{}, map[named]string{}
	for _, event := range all.Items {
		// Times of this form sort as text.
		if pod := event.About.named; event.Type == "Warning" && event.About.Kind == "Pod" && event.Last >= last[pod] {
			warnings[pod], last[pod] = said(event.Reason, event.Message), event.Last
		}
	}
	return warnings, nil
}

// said is a reason with the beginning of its message.
func said(reason, message string) string {
	text := []rune(message)
	if len(text) > mostLetters {
		text = append(text[:mostLetters], '…')
	}
	return strings.Trim(reason+": "+string(text), ": ")
}
