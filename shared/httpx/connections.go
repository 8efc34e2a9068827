package httpx

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// mostConnections is the number of connections that one site may have to a server. Each uses a file
// descriptor of the program. Without the bound, one client could take all of them.
const mostConnections = 512

// weightHTTP2 is how many of them a connection by HTTP/2 counts as, because it has mostStreams
// requests. A client can leave the responses to all of them waiting for up to a minute.
const weightHTTP2 = 8

// connections counts the connections of each site to one server. Private addresses and hops do not
// count: many clients share them.
type connections struct {
	log  *slog.Logger
	hop  secret.String
	many func(netip.Addr) bool // reports whether many clients share an address

	mu   sync.RWMutex
	held map[netip.Prefix]int  // guarded by mu; without zeros
	hops map[netip.Prefix]bool // guarded by mu; the sites that have shown the hop secret
	next time.Duration         // guarded by mu; when a refusal is logged again, on the monotonic clock
}

func newConnections(log *slog.Logger, hop secret.String) *connections {
	return &connections{
		log: log, hop: hop, many: isPrivate,
		held: map[netip.Prefix]int{}, hops: map[netip.Prefix]bool{},
	}
}

// count returns conn as a connection that counts until its Close. It returns nil if its site has
// too many.
func (c *connections) count(conn net.Conn) *countedConn {
	counted := &countedConn{Conn: conn, all: c}
	peer, ok := conn.RemoteAddr().(*net.TCPAddr) // not of a unix socket
	if ok {
		counted.peer = plain(peer.AddrPort().Addr())
	}
	if !c.weigh(counted, 1) {
		return nil
	}
	return counted
}

// countedConn is a connection of connections.
type countedConn struct {
	net.Conn

	all    *connections
	peer   netip.Addr // invalid for a unix socket
	weight int        // guarded by all.mu; 0 if it does not count
}

// Close closes the connection, which then counts no longer.
func (c *countedConn) Close() error {
	c.all.remove(c)
	return c.Conn.Close()
}

// CloseWrite ends the sending direction.
func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }

// weigh makes a connection count as weight connections of its site. It returns false if the site
// then has too many.
func (c *connections) weigh(conn *countedConn, weight int) bool {
	if !conn.peer.IsValid() || c.many(conn.peer) {
		return true
	}
	site := SiteOf(conn.peer)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hops[site] {
		return true
	}
	if c.held[site]+weight-conn.weight > mostConnections {
		c.warn(site)
		return false
	}
	c.held[site] += weight - conn.weight
	conn.weight = weight
	return true
}

// warn logs a refusal, at most once a minute. The caller holds mu.
func (c *connections) warn(site netip.Prefix) {
	now := clock.Monotonic()
	if now < c.next {
		return
	}
	c.next = now + time.Minute
	c.log.LogAttrs(context.Background(), slog.LevelWarn, "http server: too many connections of a site",
		slog.String("client_network", site.String()), slog.Int("most", mostConnections))
}

// remove makes a connection count no longer.
func (c *connections) remove(conn *countedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.weight == 0 {
		return
	}
	site := SiteOf(conn.peer)
	if c.held[site] -= conn.weight; c.held[site] == 0 {
		delete(c.held, site)
	}
	conn.weight = 0
}

// exemptHops exempts sites whose requests show the hop secret.
func (c *connections) exemptHops(next http.Handler) http.Handler {
	if c.hop.IsZero() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if showsHop(c.hop, r.Header) {
			c.exempt(peerOf(r))
		}
		next.ServeHTTP(w, r)
	})
}

// exempt stops counting the connections of a hop's site.
func (c *connections) exempt(peer netip.Addr) {
	if !peer.IsValid() || c.many(peer) {
		return
	}
	site := SiteOf(peer)
	c.mu.RLock()
	known := c.hops[site]
	c.mu.RUnlock()
	if known {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hops[site] = true
}
