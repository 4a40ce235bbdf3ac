// Pause is the first process of a pod's sandbox: it holds the pod's namespaces, does nothing, and ends when told to.
// With a shared process namespace it is the pod's process 1, so it collects what others leave behind.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	// kubeadm runs a Job of this image with -v before an upgrade, and waits for its end.
	if slices.Contains(os.Args[1:], "-v") {
		fmt.Println("pause")
		return
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	hold(signals)
}

// hold returns at the first signal to end.
func hold(signals <-chan os.Signal) {
	for <-signals == syscall.SIGCHLD {
		// One signal may stand for many children.
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if pid <= 0 || err != nil {
				break
			}
		}
	}
}
