package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/program"
)

const keysetUsage = `mle-filter keyset encrypts the private keys in the store by other keys, while filters serve.

A keyset in the store encrypts the private keys. The key-encryption key encrypts the keyset.

Usage, with the CAUSEWAY_MLE_KEK of the filters, or with their configuration file:
  mle-filter keyset rotate [--drop-old]
        adds a key to the keyset and encrypts every private key by it. If interrupted, run it again: it continues
  mle-filter keyset rewrap
        encrypts the keyset by CAUSEWAY_MLE_KEK instead of by CAUSEWAY_MLE_OLD_KEK

To replace the key-encryption key while filters serve:
  1. restart each filter with the new key in CAUSEWAY_MLE_KEK and the present key in CAUSEWAY_MLE_OLD_KEK:
     it accepts both
  2. run mle-filter keyset rewrap with the same two variables
  3. restart each filter without CAUSEWAY_MLE_OLD_KEK, and destroy the old key
If the old key has leaked, the keyset may have leaked too. Then run mle-filter keyset rotate --drop-old, and rotate the
merchants' keys.

Exit codes:
  0  success
  1  failure, or some private keys cannot be decrypted
  2  wrong flags

Flags:
`

// Keyset runs a keyset command.
func (m *Main) Keyset(ctx context.Context, args []string) error {
	var f keysFlags
	fs := program.Flags(name+" keyset", m.Stderr, keysetUsage)
	fs.StringVar(&f.config, "config", "", "the filter's configuration `file`")
	fs.StringVar(&f.keys, "keys", "", "the filter's key store: an existing `file`, or a URL")
	drop := fs.Bool("drop-old", false, "rotate: then remove the old keys from the keyset")
	words, err := m.words(fs, args, 1)
	if err != nil {
		return err
	}
	verb := strings.Join(words, "")
	if verb != "rotate" && (verb != "rewrap" || *drop) {
		return m.misused("keyset: want rotate, with or without --drop-old, or rewrap")
	}
	c, err := f.settings()
	if err != nil {
		return err
	}
	kek, err := readKEK(c.KEK, kekVariable)
	if err != nil {
		return err
	}
	keys, err := c.source()
	if err != nil {
		return err
	}
	if verb == "rewrap" {
		return m.rewrap(ctx, keys, kek)
	}
	return m.rotateKeyset(ctx, keys, kek, *drop)
}

func (m *Main) rotateKeyset(ctx context.Context, keys string, kek []byte, drop bool) (err error) {
	db, err := openStore(ctx, keys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	report := func(format string, args ...any) { _, _ = fmt.Fprintf(m.Stderr, format+"\n", args...) } // may be closed
	r := keyring.KeysetRotation{
		Store: db, KEK: kek, Drop: drop,
		Progress: func(done, all int) { report("re-encrypted: %d of %d", done, all) },
		Complain: func(kid string) { report("the private key of %s cannot be decrypted", kid) },
	}
	older, err := r.Run(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Stdout, "every private key is encrypted by the newest key; %d older keys are kept\n", older)
	return err
}

func (m *Main) rewrap(ctx context.Context, keys string, kek []byte) (err error) {
	old, err := readKEK(config.Secret{}, oldVariable)
	if err != nil {
		return err
	}
	db, err := openStore(ctx, keys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := keyring.Rewrap(ctx, db, old, kek); err != nil {
		return err
	}
	_, err = fmt.Fprintf(m.Stdout, "the keyset is encrypted by %s\n", kekVariable)
	return err
}
