package main

import (
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

var errACME = errors.New("certificates.acme: this release gets certificates from a folder alone")

// source is where certificates come from.
func source(c config.Config, log *slog.Logger) (certfile.Source, error) {
	if c.Certificates.ACME != nil {
		return nil, errACME
	}
	return folder(c, clock.System(), log), nil
}

func folder(c config.Config, now clock.Clock, log *slog.Logger) *certfile.Watcher {
	return &certfile.Watcher{Path: c.Certificates.Folder, Rules: certfile.Rules{Hosts: c.Names(), OpenRoot: true}, Clock: now, Log: log}
}
