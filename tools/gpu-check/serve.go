package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// handler answers with the GPUs that the container has. It is healthy while it answers, and ready while all its GPUs are
// there.
func handler(visible, dev string) http.Handler {
	gpus := func(w http.ResponseWriter, _ *http.Request) {
		var out strings.Builder
		if err := list(&out, visible, dev); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, out.String())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if asked := r.URL.Query().Get("work"); asked != "" {
			length, err := time.ParseDuration(asked)
			if err != nil || length < 0 || length > longestWork {
				http.Error(w, fmt.Sprintf("work=%s is no time of at most %s", asked, longestWork), http.StatusBadRequest)
				return
			}
			work(r.Context(), length)
		}
		gpus(w, r)
	})
	mux.HandleFunc("GET /readyz", gpus)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// longestWork is what one request may ask for.
const longestWork = 5 * time.Second

// work keeps a processor busy until the time is over, or nobody waits for the answer any more.
func work(ctx context.Context, length time.Duration) {
	for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil; {
	}
}

// serve answers until it is told to end; what is being answered then is answered to its end.
func serve(ctx context.Context, address string, h http.Handler) error {
	server := &http.Server{Addr: address, Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("ending: %w", err)
	}
	return nil
}
