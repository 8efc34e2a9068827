package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// refusalPatience is how long Envoys may take to refuse a configuration. After that it stays.
const refusalPatience = 10 * time.Second

// reload reads the configuration again when it changes, or on SIGHUP. It compares the file's
// content in intervals instead of watching it: that works with the links of Kubernetes and with
// editors that rename.
func (e *edge) reload(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	tick := time.NewTicker(cmp.Or(e.Look, time.Second))
	defer tick.Stop()
	seen := e.seen
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			asked = true
		case <-tick.C:
		}
		now := digest(e.path)
		if !asked && bytes.Equal(now, seen) {
			continue
		}
		seen = now
		e.again(ctx)
	}
}

// again reads the configuration once.
func (e *edge) again(ctx context.Context) {
	c, err := load(e.path)
	if err == nil {
		_, err = filterToken(c)
	}
	if err == nil {
		err = e.plane.Reload(ctx, c, refusalPatience)
	}
	e.counts.Reloaded(err)
	if err != nil {
		reason := err.Error()
		e.refusal.Store(&reason)
		e.frame.Log.ErrorContext(ctx, "edge: the configuration was rejected; the previous one stays in effect",
			slog.Any("error", err))
		return
	}
	e.refusal.Store(nil)
	e.frame.Log.InfoContext(ctx, "edge: the configuration was read again")
	if err := publishPolicy(ctx, e.publisher, c); err != nil {
		e.frame.Log.ErrorContext(ctx, "edge: the TLS policy was not published; it is retried", slog.Any("error", err))
	}
}

// digest returns the hash of a file, or nil.
func digest(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(text)
	return sum[:]
}
