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

// connections counts the connections of each site to one server. Private addresses and hops do not
// count: many clients share them.
type connections struct {
	log  *slog.Logger
	hop  secret.String
	many func(netip.Addr) bool // reports whether many clients share an address

	mu    sync.RWMutex
	sites map[net.Conn]netip.Prefix // guarded by mu; of the connections that count
	held  map[netip.Prefix]int      // guarded by mu; without zeros
	hops  map[netip.Prefix]bool     // guarded by mu; the sites that have shown the hop secret
	next  time.Duration             // guarded by mu; when a refusal is logged again, on the monotonic clock
}

func newConnections(log *slog.Logger, hop secret.String) *connections {
	return &connections{
		log: log, hop: hop, many: isPrivate,
		sites: map[net.Conn]netip.Prefix{}, held: map[netip.Prefix]int{}, hops: map[netip.Prefix]bool{},
	}
}

// count returns conn as a connection that counts until its Close. It returns nil if its site has
// too many.
func (c *connections) count(conn net.Conn) net.Conn {
	counted := &countedConn{conn, c}
	peer, ok := conn.RemoteAddr().(*net.TCPAddr) // not of a unix socket
	if ok && !c.add(counted, plain(peer.AddrPort().Addr())) {
		return nil
	}
	return counted
}

// countedConn is a connection of connections.
type countedConn struct {
	net.Conn
	all *connections
}

// Close closes the connection, which then counts no longer.
func (c *countedConn) Close() error {
	c.all.remove(c)
	return c.Conn.Close()
}

// CloseWrite ends the sending direction.
func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }

// add counts a connection. It returns false if its site has too many.
func (c *connections) add(conn net.Conn, peer netip.Addr) bool {
	if c.many(peer) {
		return true
	}
	site := SiteOf(peer)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hops[site] {
		return true
	}
	if c.held[site] >= mostConnections {
		c.warn(site)
		return false
	}
	c.sites[conn] = site
	c.held[site]++
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
func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	site, counts := c.sites[conn]
	if !counts {
		return
	}
	delete(c.sites, conn)
	if c.held[site]--; c.held[site] == 0 {
		delete(c.held, site)
	}
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
