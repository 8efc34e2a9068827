package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/causeway-pay/causeway/core"
	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/secret"
)

// openFilter puts message-level encryption in front of v1. Requests without encryption go directly
// to core.
func (m *Main) openFilter(ctx context.Context, v1 *core.Core) (*mlefilter.Filter, error) {
	folder := filepath.Join(m.data, "mle")
	if err := durable.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	kek, err := filterKEK(os.Getenv, filepath.Join(folder, "kek"))
	if err != nil {
		return nil, err
	}
	f, err := mlefilter.New(ctx, mlefilter.Config{
		Core: v1.Handler(), Operations: v1.Operations(), FilterToken: m.filterToken, Secret: m.filterSecret, Hop: m.hopSecret,
		Keys: filepath.Join(folder, "mle.db"), KEK: kek, Spares: 1, Lazily: true,
		Clock: m.clock, Log: m.log.With("service", "mle-filter"), Tracer: m.frame.Traces.Tracer("mle-filter"),
	})
	if err != nil {
		return nil, fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	m.onClose(f.Close)
	return f, nil
}

// kekVariable holds the key-encryption key of the filter's private keys. Without it, the key is
// stored next to the private keys, which is for development only.
const kekVariable = "CAUSEWAY_MLE_KEK"

// filterKEK reads the key-encryption key from its variable or a file. It makes the file at the
// first start.
func filterKEK(getenv func(string) string, path string) (secret.String, error) {
	if text := getenv(kekVariable); text != "" {
		return secret.New(text), nil
	}
	return keptSecret(path, "key-encryption key")
}

// keptSecret returns the secret in the file at path. It makes the file if it does not exist, and
// returns an error for an empty one. Errors name the secret by the text what.
func keptSecret(path, what string) (secret.String, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(random() + "\n")
		err = durable.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return secret.String{}, fmt.Errorf("%s: %w", what, err)
	}
	kept := secret.New(strings.TrimSpace(string(text)))
	if kept.IsZero() {
		return secret.String{}, fmt.Errorf("%s: %s is empty: restore it, or remove it to create a new one", what, path)
	}
	return kept, nil
}

// random returns 32 random bytes in base64.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.StdEncoding.EncodeToString(b)
}
