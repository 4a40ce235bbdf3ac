package slurmctl

import (
	"context"
	"fmt"
	"strings"
)

// Reservation is what slurmctld knows about a reservation.
type Reservation struct {
	// Name of the reservation.
	Name string
	// Nodes that it holds.
	Nodes []string
	// Flags such as MAINT and IGNORE_JOBS.
	Flags []string
	// Users and Accounts that may use it.
	Users, Accounts []string
	// State is ACTIVE or INACTIVE.
	State string
}

// ParseReservations reads the output of `scontrol show reservation -o`.
func ParseReservations(out string) ([]Reservation, error) {
	var all []Reservation
	for _, line := range lines(out) {
		if strings.HasPrefix(line, "No reservations in the system") {
			continue
		}
		rec := parseRecord(line, "Comment")
		res := Reservation{Name: rec.value("ReservationName"), State: rec.value("State")}
		if res.Name == "" {
			return nil, fmt.Errorf("reading a reservation: no ReservationName in %q", clip(line))
		}
		var err error
		if res.Nodes, err = expand(rec.value("Nodes")); err != nil {
			return nil, fmt.Errorf("reading reservation %s: %w", res.Name, err)
		}
		res.Flags = commas(rec.value("Flags"))
		res.Users = commas(rec.value("Users"))
		res.Accounts = commas(rec.value("Accounts"))
		all = append(all, res)
	}
	return all, nil
}

func commas(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Reservations lists all reservations.
func (c *Client) Reservations(ctx context.Context) ([]Reservation, error) {
	out, err := c.output(ctx, "scontrol", "-a", "-o", "show", "reservation")
	if err != nil {
		return nil, fmt.Errorf("listing reservations: %w", err)
	}
	return ParseReservations(out)
}

// ReservationsNaming lists the reservations, other than closures of ours, that
// hold one of the nodes.
func (c *Client) ReservationsNaming(ctx context.Context, nodes []string) ([]Reservation, error) {
	all, err := c.Reservations(ctx)
	if err != nil {
		return nil, err
	}
	var named []Reservation
	for _, r := range all {
		if !strings.HasPrefix(r.Name, closurePrefix) && overlap(r.Nodes, nodes) {
			named = append(named, r)
		}
	}
	return named, nil
}
