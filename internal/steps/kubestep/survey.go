package kubestep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// standing is what a control plane was found to be.
type standing struct {
	host string
	// serves tells that its API server answers.
	serves bool
	// stranger tells that it can be asked and is no member.
	stranger bool
	// gone tells that nobody is at its address.
	gone bool
	// why is what is wrong with one that is neither.
	why error
}

// standings are those of the other control planes, in their order.
type standings []standing

// survey looks at all control planes but the host itself, at once.
func (p controlPlane) survey(ctx context.Context) standings {
	var others []string
	for _, host := range p.spec.ControlPlanes {
		if host != p.spec.Host {
			others = append(others, host)
		}
	}
	found := make(standings, len(others))
	var group sync.WaitGroup
	for i, host := range others {
		group.Go(func() { found[i] = p.look(ctx, host) })
	}
	group.Wait()
	return found
}

func (p controlPlane) look(ctx context.Context, host string) standing {
	there, err := p.session.There(ctx, host)
	if err != nil {
		return standing{host: host, why: err}
	}
	if !there {
		return standing{host: host, gone: true, why: fmt.Errorf("%s cannot be reached", host)}
	}
	member, err := isMember(ctx, p.session, host)
	if err != nil || !member {
		return standing{host: host, stranger: err == nil, why: err}
	}
	if err := on(p.in, p.session, host).Up(ctx); err != nil {
		return standing{host: host, why: fmt.Errorf("%s: %w", host, err)}
	}
	return standing{host: host, serves: true}
}

// serving is the first whose API server answers; "" without one.
func (s standings) serving() string {
	if i := slices.IndexFunc(s, func(one standing) bool { return one.serves }); i >= 0 {
		return s[i].host
	}
	return ""
}

// problems say which of them could be members that do not work.
func (s standings) problems() error {
	var all []error
	for _, one := range s {
		all = append(all, one.why)
	}
	return errors.Join(all...)
}

// atWork are the problems of those that are there.
func (s standings) atWork() error {
	var all []error
	for _, one := range s {
		if !one.gone {
			all = append(all, one.why)
		}
	}
	return errors.Join(all...)
}
