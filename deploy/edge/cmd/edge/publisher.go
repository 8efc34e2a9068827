package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// tokenVariable is the environment variable of core's filter token. With _FILE appended, it names a
// file.
const tokenVariable = "CAUSEWAY_FILTER_TOKEN"

// openPublisher opens the published history of the certificates and the policy.
func (e *edge) openPublisher(ctx context.Context) (*trust.Publisher, error) {
	cfg := trust.Config{
		Folder: filepath.Join(e.config.Data, "trust"), Hosts: e.config.Hosts, URL: e.config.Trust.URL,
		Ahead: e.config.Certificates.PublishAhead,
		Log:   e.frame.Log, Tracer: e.frame.Traces.Tracer(name),
	}
	if e.authority != nil {
		cfg.Renews = e.authority.Renews
	}
	if _, err := filterToken(e.config); err != nil {
		return nil, err
	}
	if e.config.Operator != "" {
		cfg.Port = &announce.Port{URL: strings.TrimSuffix(e.config.Operator, "/")}
		cfg.Token = func() (secret.String, error) { return filterToken(e.plane.Config()) }
	}
	s, err := trust.Open(cfg)
	if err != nil {
		return nil, err
	}
	return s, publishPolicy(ctx, s, e.config)
}

// filterToken reads core's filter token. It returns zero if the configuration names no operators'
// port.
func filterToken(c config.Config) (secret.String, error) {
	if c.Operator == "" {
		return secret.String{}, nil
	}
	token, err := c.FilterToken.ResolveOr(os.Getenv, tokenVariable)
	if err != nil {
		return secret.String{}, fmt.Errorf("filter_token: %w", err)
	}
	return token, nil
}

// publishPolicy publishes the TLS policy: this release's table, narrowed by the configuration.
func publishPolicy(ctx context.Context, s *trust.Publisher, c config.Config) error {
	policy, err := c.Policy()
	if err != nil {
		return err
	}
	d := policy.Describe()
	return s.Policy(ctx, v1.TLSPolicy{
		Versions: d.Versions, CipherSuites: d.CipherSuites, SignatureAlgorithms: d.SignatureAlgorithms,
	})
}
