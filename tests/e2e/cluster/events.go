package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Operation is what a run did, or began to do, to one resource.
type Operation struct {
	// Kind is create, update, delete, replace, same, refresh or read.
	Kind string
	// Resource is the resource's name.
	Resource string
	// Type is its type token.
	Type string
}

// Events are what a run said in Pulumi's event log.
type Events struct {
	// Operations in the order in which they began.
	Operations []Operation
	// Diagnostics are the messages without their colours, in order.
	Diagnostics []string
}

type engineEvent struct {
	ResourcePre *struct {
		Metadata metadata `json:"metadata"`
	} `json:"resourcePreEvent"`
	Diagnostic *struct {
		Message  string `json:"message"`
		Severity string `json:"severity"`
	} `json:"diagnosticEvent"`
}

type metadata struct {
	Op   string `json:"op"`
	URN  string `json:"urn"`
	Type string `json:"type"`
}

// ReadEvents reads an event log.
func ReadEvents(log io.Reader) (Events, error) {
	var events Events
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var event engineEvent
			if err := json.Unmarshal(line, &event); err != nil {
				return events, fmt.Errorf("reading an event: %w", err)
			}
			events.add(event)
		}
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return events, err
		}
	}
}

func (e *Events) add(event engineEvent) {
	if pre := event.ResourcePre; pre != nil {
		m := pre.Metadata
		e.Operations = append(e.Operations, Operation{
			Kind: m.Op, Resource: m.URN[strings.LastIndex(m.URN, "::")+len("::"):], Type: m.Type,
		})
	}
	if d := event.Diagnostic; d != nil {
		e.Diagnostics = append(e.Diagnostics, uncoloured(d.Message))
	}
}

// Changes lists what was not left as it was, as "update lab-controller", in
// lexical order and without the name of the environment.
func (e Events) Changes(environment string) []string {
	var all []string
	for _, op := range e.Operations {
		if op.Kind != "same" && op.Kind != "read" && op.Kind != "refresh" {
			all = append(all, op.Kind+" "+strings.TrimPrefix(op.Resource, environment+"-"))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Unchanged counts the resources that were left as they were.
func (e Events) Unchanged() int {
	count := 0
	for _, op := range e.Operations {
		if op.Kind == "same" {
			count++
		}
	}
	return count
}

// uncoloured takes Pulumi's colour tags out of a text.
func uncoloured(text string) string {
	for {
		start := strings.Index(text, "<{%")
		if start < 0 {
			return text
		}
		end := strings.Index(text[start:], "%}>")
		if end < 0 {
			return text
		}
		text = text[:start] + text[start+end+len("%}>"):]
	}
}
