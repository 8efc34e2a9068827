package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// maxID is the longest id of a node, which is a label of metrics.
const maxID = 128

// identify binds a stream to one node of our cluster, whose certificate names it. The mutex is
// held.
func (n *nodes) identify(s *stream, node *corev3.Node) error {
	if node == nil && s.id != "" { // Envoy sends its id only in the first request
		return nil
	}
	id := node.GetId()
	switch {
	case id == "":
		return status.Error(codes.PermissionDenied, "edge: node.id: want an id")
	case len(id) > maxID || printable(id) != id:
		return status.Error(codes.PermissionDenied, "edge: node.id: want at most 128 printable characters")
	case node.GetCluster() != n.cfg.Cluster:
		return status.Error(codes.PermissionDenied, "edge: node.cluster: want the name in xds.cluster")
	case s.id != "" && s.id != id:
		return status.Error(codes.PermissionDenied, "edge: another node already uses this stream")
	case s.allowed != nil && !slices.Contains(s.allowed, id):
		return status.Error(codes.PermissionDenied, "edge: the client certificate does not name node.id")
	}
	if s.id == "" {
		n.turns++
	}
	s.id = id
	return nil
}

// peerNames returns the names in a peer's certificate; nil without TLS, on a unix socket.
func peerNames(ctx context.Context) []string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return []string{}
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return nil
	}
	names := []string{}
	if len(info.State.PeerCertificates) > 0 {
		leaf := info.State.PeerCertificates[0]
		names = append(names, leaf.DNSNames...)
		for _, u := range leaf.URIs {
			names = append(names, u.String())
		}
	}
	return names
}

// MutualTLS returns the TLS configuration of a server on an address. It reads the files at every
// handshake, so a renewal needs no signal.
func MutualTLS(certificate, key, clientCA string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			pair, err := tls.LoadX509KeyPair(certificate, key)
			if err != nil {
				return nil, fmt.Errorf("serve: %w", err)
			}
			text, err := os.ReadFile(clientCA)
			if err != nil {
				return nil, fmt.Errorf("serve: %w", err)
			}
			authorities := x509.NewCertPool()
			if !authorities.AppendCertsFromPEM(text) {
				return nil, errors.New("serve: xds.client_ca: want a PEM file with a certificate: " + clientCA)
			}
			return &tls.Config{
				MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}, SessionTicketsDisabled: true,
				Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities,
			}, nil
		},
	}
}

// printable makes a peer's text safe for a line of the log, and short.
func printable(text string) string {
	const most = 500
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), most)]
}
