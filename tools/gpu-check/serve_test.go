package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestHandler(t *testing.T) {
	dev := t.TempDir()
	server := httptest.NewServer(handler("GPU-a", dev))
	defer server.Close()
	ask := func(path string) (int, string) {
		t.Helper()
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, strings.TrimSpace(string(text))
	}
	for _, step := range []struct {
		path string
		code int
		text string
	}{
		{"/healthz", 200, "ok"},
		{"/readyz", 503, "1 GPUs were given and 0 device files are there"},
		{"/", 503, "1 GPUs were given and 0 device files are there"},
		{"", 0, ""}, // the device comes
		{"/readyz", 200, "GPU 0: simulated (UUID: GPU-a)"},
		{"/", 200, "GPU 0: simulated (UUID: GPU-a)"},
		{"/?work=10ms", 200, "GPU 0: simulated (UUID: GPU-a)"},
		{"/?work=1h", 400, "work=1h is no time of at most 5s"},
		{"/?work=much", 400, "work=much is no time of at most 5s"},
		{"/elsewhere", 404, "404 page not found"},
	} {
		if step.path == "" {
			if err := os.WriteFile(filepath.Join(dev, "nvidia0"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if code, text := ask(step.path); code != step.code || text != step.text {
			t.Errorf("%s answers %d %q, want %d %q", step.path, code, text, step.code, step.text)
		}
	}
}

// TestWork checks that an answer with work takes a processor for that long, and no longer than somebody waits for it.
func TestWork(t *testing.T) {
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			t.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano())
	}
	const length = 50 * time.Millisecond
	for first := time.Now(); ; {
		before, begin := used(), time.Now()
		work(t.Context(), length)
		if took := time.Since(begin); took < length {
			t.Errorf("work of %s took %s", length, took)
		}
		if used()-before > length/5 {
			break
		}
		// On a busy machine a processor is ours only now and then.
		if time.Since(first) > time.Minute {
			t.Fatal("the work takes no processor")
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	begin := time.Now()
	work(gone, time.Hour)
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("work for nobody took %s", took)
	}
}

// TestServeEndsWell checks that a request under way is answered when the server is told to end.
func TestServeEndsWell(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	begun, ended := make(chan bool), make(chan error, 1)
	go func() {
		ended <- serve(ctx, address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				close(begun)
				time.Sleep(200 * time.Millisecond)
			}
			_, _ = io.WriteString(w, "whole")
		}))
	}()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if response, err := http.Get("http://" + address + "/"); err == nil {
			response.Body.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not serve")
		}
	}
	answer := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + address + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		answer <- string(text)
	}()
	<-begun
	stop()
	if got := <-answer; got != "whole" {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	for _, args := range [][]string{nil, {"-q"}, {"-serve"}, {"-L", "x"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q is understood", args)
		}
	}
}
