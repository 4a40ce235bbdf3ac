package lab

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// RemoveHost removes a host with its volumes and its name. Whatever of it is already gone,
// is gone: that is success.
func (e *Engine) RemoveHost(ctx context.Context, lab, host string) error {
	if !namePattern.MatchString(lab) || !namePattern.MatchString(host) {
		return fmt.Errorf("removing a lab host: %q or %q is not a name", lab, host)
	}
	unlock, err := e.state.lock(ctx, "host-"+ContainerName(lab, host))
	if err != nil {
		return err
	}
	defer unlock()
	c, err := e.inspectHost(ctx, lab, host)
	if err == nil {
		err = e.removeContainer(ctx, c.ID)
	}
	if err != nil && !missing(err) {
		return fmt.Errorf("removing the lab host %s: %w", host, err)
	}
	if err := e.removeVolumes(ctx, "label="+labelLab+"="+lab, "label="+labelHost+"="+host); err != nil {
		return err
	}
	return e.registry(lab).forget(ctx, host)
}

// removeContainer removes a container with its nameless volumes. One that is gone, or that
// somebody else is removing, is waited for until it is gone.
func (e *Engine) removeContainer(ctx context.Context, id string) error {
	for {
		_, err := e.docker.run(ctx, "rm", "-f", "-v", id)
		if err == nil || missing(err) {
			return nil
		}
		if !strings.Contains(err.Error(), "already in progress") {
			return err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// removeVolumes removes the volumes that match all filters.
func (e *Engine) removeVolumes(ctx context.Context, filters ...string) error {
	args := []string{"volume", "ls", "-q"}
	for _, f := range filters {
		args = append(args, "--filter", f)
	}
	out, err := e.docker.run(ctx, args...)
	if err != nil {
		return fmt.Errorf("removing the lab's volumes: %w", err)
	}
	for name := range strings.FieldsSeq(out) {
		if _, err := e.docker.run(ctx, "volume", "rm", name); err != nil && !missing(err) {
			return fmt.Errorf("removing the lab's volumes: %w", err)
		}
	}
	return nil
}
