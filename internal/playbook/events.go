package playbook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// event is one line of the gpucluster_events callback.
type event struct {
	Event    string                     `json:"event"`
	Status   string                     `json:"status"`
	Host     string                     `json:"host"`
	Task     string                     `json:"task"`
	Message  string                     `json:"message"`
	Problems []string                   `json:"problems"`
	Changes  []string                   `json:"changes"`
	Report   map[string]json.RawMessage `json:"report"`
	Seconds  float64                    `json:"seconds"`
}

// collector reads events as they come and keeps what they say.
type collector struct {
	result   Result
	progress io.Writer
	partial  []byte
	others   []string
	// task that was begun last, and the hosts that have ended it.
	task  string
	ended map[string]bool
}

func newCollector(hosts []string, progress io.Writer) *collector {
	if progress == nil {
		progress = io.Discard
	}
	c := &collector{result: Result{Hosts: map[string]*HostResult{}}, progress: progress, ended: map[string]bool{}}
	for _, h := range hosts {
		c.result.Hosts[h] = &HostResult{}
	}
	return c
}

// Write takes what ansible-playbook prints.
func (c *collector) Write(p []byte) (int, error) {
	c.partial = append(c.partial, p...)
	for {
		line, rest, found := bytes.Cut(c.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		c.line(line)
		c.partial = rest
	}
}

// flush takes a last line without an end.
func (c *collector) flush() {
	if len(c.partial) > 0 {
		c.line(c.partial)
		c.partial = nil
	}
}

// line takes one line; what is no event is kept for an error's text.
func (c *collector) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Event == "" {
		if text := strings.TrimSpace(string(line)); text != "" {
			c.others = append(c.others, text)
		}
		return
	}
	switch e.Event {
	case "task":
		c.task, c.ended = taskTitle(e.Task), map[string]bool{}
	case "result":
		c.take(e)
	}
}

// take keeps one task's result on one host.
func (c *collector) take(e event) {
	h := c.result.Hosts[e.Host]
	if h == nil {
		return
	}
	task := taskTitle(e.Task)
	if task == c.task {
		c.ended[e.Host] = true
	}
	for name, value := range e.Report {
		if h.Reports == nil {
			h.Reports = map[string]json.RawMessage{}
		}
		h.Reports[name] = value
	}
	switch e.Status {
	case "changed":
		if len(e.Changes) == 0 {
			h.Changed = append(h.Changed, task)
			c.say(e.Host, "changed", task)
		}
		for _, change := range e.Changes {
			h.Changed = append(h.Changed, task+": "+change)
			c.say(e.Host, "changed", task+": "+change)
		}
	case "failed", "unreachable":
		c.fail(Failure{Host: e.Host, Task: task, Message: e.Message, Problems: e.Problems, Unreachable: e.Status == "unreachable"})
	}
}

// fail keeps why a host did not come to the end.
func (c *collector) fail(f Failure) {
	c.result.Hosts[f.Host].Failure = &f
	for _, text := range f.Problems {
		c.say(f.Host, "FAILED", f.Task+": "+text)
	}
	if len(f.Problems) == 0 {
		c.say(f.Host, "FAILED", f.Task+": "+f.Message)
	}
}

// hangs makes a run that was cut off at its limit a failure of the hosts that
// were at the last task, and of those that waited for them.
func (c *collector) hangs(limit time.Duration) {
	for _, host := range keys(c.result.Hosts) {
		switch {
		case c.result.Hosts[host].Failure != nil:
		case c.ended[host]:
			c.fail(Failure{Host: host, Task: c.task, Message: "is done, but other hosts hang in it and the rest was not begun"})
		default:
			c.fail(Failure{Host: host, Task: c.task, Message: fmt.Sprintf("hangs: the playbook did not end within %s", limit)})
		}
	}
}

// say writes one line of progress.
func (c *collector) say(host, what, text string) {
	fmt.Fprintf(c.progress, "%s: %s: %s\n", host, what, text)
}

// unknown is what ansible-playbook printed besides events.
func (c *collector) unknown() string { return strings.Join(c.others, "\n") }

// taskTitle drops the role that Ansible puts before a task's name.
func taskTitle(task string) string {
	if _, title, found := strings.Cut(task, " : "); found {
		return title
	}
	return task
}

// complaint finds the lines of a program's output that say what is wrong, or
// keeps its end.
func complaint(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		if strings.Contains(l, "ERROR!") || strings.Contains(l, "error:") {
			lines = lines[i:]
			break
		}
	}
	if len(lines) > 12 {
		lines = lines[len(lines)-12:]
	}
	return strings.Join(lines, "\n")
}
