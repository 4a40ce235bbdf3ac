package e2e

import (
	"os"
	"strings"
	"sync"
	"time"
)

// watcher collects the command lines of all processes of the machine, those in
// lab hosts included, as ps would show them.
type watcher struct {
	since time.Time
	seen  map[string]bool
	end   chan struct{}
	done  sync.WaitGroup
}

// watchEvery is short enough to see commands that only start another one.
const watchEvery = 50 * time.Millisecond

func watchCommandLines() *watcher {
	w := &watcher{since: time.Now(), seen: map[string]bool{}, end: make(chan struct{})}
	w.done.Add(1)
	go func() {
		defer w.done.Done()
		for {
			w.look()
			select {
			case <-w.end:
				return
			case <-time.After(watchEvery):
			}
		}
	}()
	return w
}

// look opens one file a process and lists one folder: a look that takes long
// misses what lives short, and slows down what is watched.
func (w *watcher) look() {
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if line, err := os.ReadFile("/proc/" + name + "/cmdline"); err == nil && len(line) > 0 {
			w.seen[strings.ReplaceAll(string(line), "\x00", " ")] = true
		}
	}
}

// stop ends the watch; the command lines may be read afterwards.
func (w *watcher) stop() {
	close(w.end)
	w.done.Wait()
}

// holding returns a command line that holds the text, or "".
func (w *watcher) holding(text string) string {
	for line := range w.seen {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}
