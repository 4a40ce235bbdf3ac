package remote

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// What ssh says when nobody is at the address. A name that does not exist is
// as good as a host that does not; a look-up that failed says nothing about
// the host, nor does a deployer without a network.
var nobodyThere = []string{
	": Connection timed out", ": Operation timed out", ": No route to host", ": Host is down",
	": Name or service not known", ": No address associated with hostname",
}

// What ssh says about a host, or a bastion, that answered and with which no
// login came about.
var noLogin = []string{
	"Permission denied", "Too many authentication failures", "Host key verification failed",
	"REMOTE HOST IDENTIFICATION HAS CHANGED", "Unable to negotiate", "administratively prohibited",
}

// exchange begins what ssh says when the other side closed the connection
// before it said who it is: a daemon with too many logins under way does so,
// and so does the process that should have jumped through a bastion.
const exchange = "kex_exchange_identification: "

// silence is what ssh says when a connection was made and nobody spoke.
const silence = "Connection timed out during banner exchange"

// forward is part of what a bastion says about a connection onward.
const forward = "open failed: connect failed"

// isRefused reports whether ssh's last words tell of a login that was refused,
// by the host or by us because of its key.
func isRefused(words string) bool { return containsAny(words, noLogin) }

// isBusy reports whether ssh was sent away before the login, so that it is
// worth another try. The command did not run.
func isBusy(words string) bool {
	return strings.Contains(words, exchange) && !isRefused(words) && !strings.Contains(words, silence) &&
		!strings.Contains(words, forward) && !strings.Contains(words, "connect to host") && !strings.Contains(words, "Could not resolve")
}

// isGone reports whether ssh's last words tell that nobody is at the address of
// the host itself. Through a bastion, only the bastion can tell, or the silence
// behind it: when the bastion itself is away, the process that jumps ends and
// the exchange with it.
func isGone(words string, bastion bool) bool {
	switch {
	case isRefused(words):
		return false
	case bastion && strings.Contains(words, forward):
		return containsAny(words, nobodyThere)
	case bastion:
		return strings.Contains(words, silence) && !strings.Contains(words, exchange)
	}
	return strings.Contains(words, silence) || containsAny(words, nobodyThere)
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// IsGone reports whether err says that nobody answers at a host's address. It
// is narrower than [IsUnreachable]: a host that refuses the login, shows
// another key, runs no SSH daemon or lies behind a bastion that is away may
// well be at work.
func IsGone(err error) bool {
	var c *CommandError
	return errors.As(err, &c) && c.Gone
}

// There reports whether a host can be given commands. A host that is gone is
// not, and that is no error; one that may be at work and cannot be asked is an
// error that says what to do.
func (s *Session) There(ctx context.Context, host string) (bool, error) {
	_, err := s.Run(ctx, host, "true", nil)
	if IsGone(err) {
		return false, nil
	}
	return err == nil, err
}
