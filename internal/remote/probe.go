package remote

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// probeSlots bounds how many hosts are asked at the same time.
const probeSlots = 32

// Answer is what one host said to a probe.
type Answer struct {
	// Output is the script's standard output.
	Output string
	// Err is nil when the script ended with status 0.
	Err error
}

// Probe runs a shell script as root on many hosts at a time and returns each
// host's answer. Each host has at most timeout, connecting included, so the
// call ends after about timeout × hosts ÷ 32 even if no host is there.
func (s *Session) Probe(ctx context.Context, hosts []string, script string, timeout time.Duration) map[string]Answer {
	answers := make(map[string]Answer, len(hosts))
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, probeSlots)
	for _, host := range hosts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			one, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
			defer cancel()
			out, err := s.Run(one, host, "sh -s", []byte(script))
			mu.Lock()
			defer mu.Unlock()
			answers[host] = Answer{Output: out, Err: err}
		}()
	}
	wg.Wait()
	return answers
}
