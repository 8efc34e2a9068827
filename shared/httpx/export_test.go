package httpx

import (
	"net/http"
	"net/netip"
)

// CountPrivate makes connections from private addresses count, so that tests can have sites on
// loopback.
func (s *Server) CountPrivate() { s.conns.many = func(netip.Addr) bool { return false } }

// MostConnections is the bound.
const MostConnections = mostConnections

// BoundFields is the outermost handler of every Server.
func BoundFields(next http.Handler) http.Handler { return boundFields(next) }

// Pace bounds the time in which a client takes the responses of next.
func Pace(next http.Handler) http.Handler { return pace(next) }
