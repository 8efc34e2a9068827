package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/check"
	"github.com/causeway-pay/causeway/deploy/edge/internal/rollout"
	"github.com/causeway-pay/causeway/shared/certfile"
)

// check builds the resources of the file, with the certificates if they exist, and validates them.
// load has checked the file itself.
func (m *Main) check(context.Context, *flags) error {
	made, err := build.Build(
		build.Input{Config: m.config, Certificates: []build.Certificate{build.FromFiles("chain", "key")}})
	if err == nil {
		err = check.Resources(made)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	if _, err := filterToken(m.config); err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	if m.config.Certificates.Folder != "" {
		policy, err := m.config.Policy()
		if err != nil {
			return err
		}
		pairs, warnings, err := folder(m.config, policy, slog.New(slog.DiscardHandler)).Load()
		if err != nil {
			return err
		}
		for _, w := range warnings {
			if _, err := fmt.Fprintln(m.Stderr, "warning:", w); err != nil {
				return err
			}
		}
		if _, err := rollout.Snapshot(m.config, pairs); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
	}
	_, err = fmt.Fprintf(m.Stdout, "%s: nothing is wrong: %d listeners, %d clusters, %d routes\n",
		m.path, len(made.Listeners), len(made.Clusters), len(m.config.Routes))
	return err
}

func (m *Main) bootstrap(_ context.Context, f *flags) error {
	made, err := build.Bootstrap(m.config, m.envoy(f))
	if err != nil {
		return err
	}
	return m.print("# Starts an Envoy that gets its resources from the edge program: envoy -c this-file\n",
		"bootstrap", made)
}

func (m *Main) static(_ context.Context, f *flags) error {
	made, err := build.Static(m.config, m.envoy(f), []build.Certificate{build.FromFiles(f.certificate, f.key)})
	if err != nil {
		return err
	}
	return m.print("# Starts an Envoy without the edge program, with the same resources. "+
		"A new certificate takes a restart.\n"+
		"# The routes to the edge program (/v1/trust, the calendar, challenges) return 503 without it.\n", "static", made)
}

func (m *Main) envoy(f *flags) build.Node {
	return build.Node{ID: f.node, Admin: f.admin, Stats: f.stats, TLS: f.tls}
}

func (m *Main) print(what, command string, made proto.Message) error {
	text, err := check.YAML(made)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Stdout, "%s# Made by: edge %s --config %s\n%s", what, command, m.path, text)
	return err
}

// probe returns a function that checks whether an Envoy on this machine serves a certificate. It
// returns nil if Envoys are on other machines.
func (e *edge) probe() func(context.Context, []*certfile.Pair) error {
	if !strings.HasPrefix(e.config.XDS.Listen, "unix:") {
		return nil
	}
	return func(ctx context.Context, pairs []*certfile.Pair) error {
		c := e.plane.Config()
		host, port, err := net.SplitHostPort(c.Listen.HTTPS)
		if err != nil {
			return err
		}
		if ip := net.ParseIP(host); ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		return rollout.Probe(net.JoinHostPort(host, port), c.Hosts[0])(ctx, pairs)
	}
}
