package lab

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/crypto/ssh"
)

// bootWait bounds how long a host may take to boot. A host takes a second or two; many at
// once on a small, busy machine take longer.
const bootWait = 3 * time.Minute

// waitForSSH waits until sshd at the address proves to hold the host's key.
func waitForSSH(ctx context.Context, address netip.Addr, hostKey string, bound time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		err := askSSH(ctx, address, hostKey)
		if err == nil {
			return nil
		}
		if sleep(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("sshd at %s did not answer within %s: %w", address, bound, err)
		}
	}
}

// askSSH does the part of an SSH handshake in which the server proves who it is.
func askSSH(ctx context.Context, address netip.Addr, hostKey string) error {
	want, _, _, _, err := ssh.ParseAuthorizedKey([]byte(hostKey))
	if err != nil {
		return fmt.Errorf("reading the host's key: %w", err)
	}
	dialer := net.Dialer{Timeout: 2 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(address, 22).String())
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	proved := false
	config := &ssh.ClientConfig{
		User:              "root",
		HostKeyAlgorithms: []string{want.Type()},
		HostKeyCallback: func(_ string, _ net.Addr, got ssh.PublicKey) error {
			if !bytes.Equal(got.Marshal(), want.Marshal()) {
				return fmt.Errorf("it shows another host key than its own")
			}
			proved = true
			return nil
		},
	}
	// Without a user's key the handshake cannot end well; that the server proved itself is
	// all there is to know.
	client, _, _, err := ssh.NewClientConn(conn, address.String(), config)
	if err == nil {
		_ = client.Close()
	}
	if proved {
		return nil
	}
	return err
}

// ProbeHost tells whether a host runs, is in its network and proves its key. It changes
// nothing and takes a few seconds at most.
func (e *Engine) ProbeHost(ctx context.Context, lab string, host HostInfo) error {
	address, err := netip.ParseAddr(host.Address)
	if err != nil {
		return fmt.Errorf("probing the lab host %s: %w", host.Name, err)
	}
	c, err := e.inspectHost(ctx, lab, host.Name)
	switch {
	case err != nil:
	case !c.State.Running:
		err = fmt.Errorf("its container does not run")
	case c.ID[:12] != host.Instance:
		err = fmt.Errorf("it was made anew")
	default:
		err = askSSH(ctx, address, host.HostKey)
	}
	if err != nil {
		return fmt.Errorf("probing the lab host %s: %w", host.Name, err)
	}
	return nil
}
