package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	token, err := e.filterToken()
	if err != nil {
		return nil, err
	}
	if e.config.Operator != "" {
		cfg.Port = &announce.Port{URL: strings.TrimSuffix(e.config.Operator, "/"), Token: token}
	}
	s, err := trust.Open(cfg)
	if err != nil {
		return nil, err
	}
	return s, e.publishPolicy(ctx, s)
}

// filterToken returns core's filter token, or zero if the configuration names no operators' port.
func (m *Main) filterToken() (secret.String, error) {
	if m.config.Operator == "" {
		return secret.String{}, nil
	}
	token, err := m.config.FilterToken.ResolveOr(os.Getenv, tokenVariable)
	if err != nil {
		return secret.String{}, fmt.Errorf("filter_token: %w", err)
	}
	return token, nil
}

// publishPolicy publishes the TLS policy: this release's table, narrowed by the configuration.
func (e *edge) publishPolicy(ctx context.Context, s *trust.Publisher) error {
	policy, err := e.config.Policy()
	if err != nil {
		return err
	}
	d := policy.Describe()
	return s.Policy(ctx, v1.TLSPolicy{
		Versions: d.Versions, CipherSuites: d.CipherSuites, SignatureAlgorithms: d.SignatureAlgorithms,
	})
}
