package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// openCertificate returns the TLS settings of the listener, whose certificate follows its files. If
// the files hold no valid pair, because only one was replaced, the previous pair stays. It returns
// nil for plain HTTP, if no files are configured.
func (m *Main) openCertificate(ctx context.Context, frame *program.Frame) (*tls.Config, error) {
	files := certfile.Files{Chain: m.Config.Certificate, Key: m.Config.PrivateKey}
	switch {
	case files == certfile.Files{}:
		return nil, nil
	case files.Chain == "":
		return nil, errors.New("certificate is empty, but private_key is set: set both or none")
	case files.Key == "":
		return nil, errors.New("private_key is empty, but certificate is set: set both or none")
	}
	w := &certfile.Watcher{
		Files: []certfile.Files{files}, Rules: certfile.Rules{KeyOnly: true}, Look: time.Second, Log: frame.Log,
	}
	pairs, _, err := w.Load()
	if err != nil {
		return nil, fmt.Errorf("certificate and private_key: %w", err)
	}
	holder := &certfile.Holder{}
	holder.Hold(pairs...)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var ended sync.WaitGroup
	ended.Go(func() {
		follow := func(ctx context.Context, u certfile.Update) { take(ctx, holder, u, frame.Log) }
		if err := w.Run(ctx, follow); err != nil {
			frame.Log.ErrorContext(ctx, "mle-filter: the certificate files are not watched", slog.Any("error", err))
		}
	})
	frame.OnClose(func(context.Context) error { stop(); ended.Wait(); return nil })
	return tlspolicy.Server(holder.GetCertificate), nil
}

// take serves the pair of an update, or logs why the files were rejected.
func take(ctx context.Context, holder *certfile.Holder, u certfile.Update, log *slog.Logger) {
	switch {
	case u.Refusal != nil:
		log.ErrorContext(ctx, "mle-filter: the new certificate was rejected, the previous one stays",
			slog.Any("error", u.Refusal))
	case !u.Pairs[0].Equal(holder.Pairs()[0]):
		holder.Hold(u.Pairs...)
		log.InfoContext(ctx, "mle-filter: new certificate", slog.Time("until", u.Pairs[0].Leaf().NotAfter))
	}
}
