package keyring

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// resealAtOnce is the number of private keys that one write encrypts again. Other writes wait for
// it some milliseconds.
const resealAtOnce = 100

// ErrLeft reports that some private keys cannot be decrypted. They are still encrypted by an old
// key.
var ErrLeft = errors.New("keyring: some private keys cannot be decrypted: they and the old keys are kept")

// KeysetRotation encrypts all private keys again by a fresh key. Running filters adopt the new
// keyset. If an earlier rotation was interrupted, it completes that one and adds no key. Two
// concurrent rotations are safe.
type KeysetRotation struct {
	Store *keystore.DB
	KEK   []byte
	// Drop removes the old keys of the keyset once they encrypt no private key.
	Drop bool
	// Progress receives the number of private keys under the newest key, and of all. Complain
	// receives the id of each key that does not open. Both are required.
	Progress func(done, all int)
	Complain func(kid string)

	sealer *sealer
}

// Run rotates and returns the number of old keys that remain.
func (r *KeysetRotation) Run(ctx context.Context) (older int, err error) {
	if r.sealer, err = openSealer(ctx, r.Store, true, r.KEK); err != nil {
		return 0, err
	}
	if err := r.Store.Update(ctx, r.begin); err != nil {
		return 0, err
	}
	left, err := r.resealAll(ctx)
	if err != nil {
		return 0, err
	}
	if left == 0 && r.Drop {
		err = r.Store.Update(ctx, r.drop)
	} else if left > 0 {
		err = ErrLeft
	}
	o, wrong := r.sealer.follow(r.Store.Keyset(ctx))
	if wrong != nil {
		return 0, errors.Join(err, wrong)
	}
	return len(o.older()), err
}

// begin adds a fresh primary key, unless some private keys are not yet encrypted by the current
// one.
func (r *KeysetRotation) begin(tx *keystore.Tx) error {
	o, err := r.sealer.follow(tx.Keyset())
	if err != nil {
		return err
	}
	_, left, err := tx.CountSealed(o.prefix())
	if err != nil || left > 0 {
		return err
	}
	return r.change(tx, tx.Now, func(m *keyset.Manager) error {
		n, err := m.Add(aead.AES256GCMKeyTemplate())
		if err != nil {
			return err
		}
		return m.SetPrimary(n)
	})
}

// resealAll encrypts private keys again until only the ones that cannot be decrypted are left. It
// returns their number.
func (r *KeysetRotation) resealAll(ctx context.Context) (left int, err error) {
	bad := map[string]bool{}
	for after := ""; ; {
		var more bool
		err := r.Store.Update(ctx, func(tx *keystore.Tx) (err error) {
			after, more, err = r.reseal(tx, after, bad)
			return err
		})
		if err != nil {
			return 0, err
		}
		if !more {
			return len(bad), nil
		}
	}
}

// reseal encrypts one batch of private keys again, and returns the last one.
func (r *KeysetRotation) reseal(
	tx *keystore.Tx, after string, bad map[string]bool,
) (last string, more bool, err error) {
	o, err := r.sealer.follow(tx.Keyset())
	if err != nil {
		return "", false, err
	}
	keys, err := tx.Sealed(after, o.prefix(), resealAtOnce)
	if err != nil {
		return "", false, err
	}
	for _, k := range keys {
		after = k.Kid
		der, err := o.open(k)
		if err != nil || !o.wrote(k) { // a new HMAC would authenticate the change of another program
			clear(der)
			if !bad[k.Kid] {
				bad[k.Kid] = true
				r.Complain(k.Kid)
			}
			continue
		}
		k.Sealed, err = o.aead.Encrypt(der, associatedData(k.Tenant, k.Kid, engine.Alg(k.Alg)))
		clear(der)
		if err != nil {
			return "", false, fmt.Errorf("keyring: seal %s: %w", k.Kid, err)
		}
		k.MAC = o.keyMAC(k)
		if err := tx.Reseal(k); err != nil {
			return "", false, err
		}
	}
	all, left, err := tx.CountSealed(o.prefix())
	r.Progress(all-left, all)
	if len(keys) < resealAtOnce {
		after = "" // from the start again, because another rotation may have added a newer key
	}
	return after, left > len(bad), err
}

// drop removes all keys except the primary one.
func (r *KeysetRotation) drop(tx *keystore.Tx) error {
	o, err := r.sealer.follow(tx.Keyset())
	if err != nil {
		return err
	}
	if _, left, err := tx.CountSealed(o.prefix()); err != nil || left > 0 {
		return errors.Join(err, ErrLeft) // another rotation has begun
	}
	return r.change(tx, time.Time{}, func(m *keyset.Manager) error {
		for _, n := range o.older() {
			if err := m.Delete(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// change writes a changed keyset. rotated is the creation time of its newest key, or the zero time
// if that key is unchanged.
func (r *KeysetRotation) change(tx *keystore.Tx, rotated time.Time, fn func(*keyset.Manager) error) error {
	stored, err := tx.Keyset()
	if err != nil {
		return err
	}
	h, err := readKeyset(stored.Sealed, r.sealer.wraps[0])
	if err != nil {
		return err
	}
	m := keyset.NewManagerFromHandle(h)
	if err := fn(m); err != nil {
		return fmt.Errorf("keyring: change keyset: %w", err)
	}
	if h, err = m.Handle(); err != nil {
		return fmt.Errorf("keyring: change keyset: %w", err)
	}
	changed := stored
	changed.Generation++
	if !rotated.IsZero() {
		changed.RotatedAt = rotated
	}
	if changed.Sealed, err = writeKeyset(h, r.sealer.wraps[0]); err != nil {
		return err
	}
	return tx.ReplaceKeyset(stored, changed)
}

// prefix returns the first bytes of all ciphertexts of the newest key. In Tink's format that is a
// one and the id of the key.
func (o *openKeyset) prefix() []byte {
	return binary.BigEndian.AppendUint32([]byte{1}, o.handle.KeysetInfo().GetPrimaryKeyId())
}

// older returns the ids of the keys that only decrypt.
func (o *openKeyset) older() (out []uint32) {
	info := o.handle.KeysetInfo()
	for _, k := range info.GetKeyInfo() {
		if k.GetKeyId() != info.GetPrimaryKeyId() {
			out = append(out, k.GetKeyId())
		}
	}
	return out
}

func makeKeyset(ctx context.Context, db *keystore.DB, wrap tink.AEAD) error {
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("keyring: new keyset: %w", err)
	}
	sealed, err := writeKeyset(h, wrap)
	if err != nil {
		return err
	}
	hmacKey, err := newHMACKey(wrap)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *keystore.Tx) error { return tx.MakeKeyset(sealed, hmacKey) })
}

func readKeyset(sealed []byte, wrap tink.AEAD) (*keyset.Handle, error) {
	h, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(sealed)), wrap, binding)
	if err != nil {
		return nil, errors.New("keyring: the keyset cannot be decrypted: " +
			"set the key-encryption key that encrypted it, or restore the store")
	}
	return h, nil
}

func writeKeyset(h *keyset.Handle, wrap tink.AEAD) ([]byte, error) {
	var out bytes.Buffer
	if err := h.WriteWithAssociatedData(keyset.NewBinaryWriter(&out), wrap, binding); err != nil {
		return nil, fmt.Errorf("keyring: encrypt keyset: %w", err)
	}
	return out.Bytes(), nil
}

// Rewrap encrypts the keyset and the HMAC key by another key-encryption key. Running filters
// continue, but need the new key at their next start. Repeating the call changes nothing.
func Rewrap(ctx context.Context, db *keystore.DB, old, kek []byte) error {
	from, err := wrapping(old)
	if err != nil {
		return err
	}
	to, err := wrapping(kek)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *keystore.Tx) error {
		stored, err := tx.Keyset()
		if err != nil {
			return err
		}
		if _, err := readKeyset(stored.Sealed, to); err == nil {
			return nil
		}
		fresh := stored
		fresh.WrappedAt = tx.Now
		if fresh.Sealed, err = rewrapKeyset(stored.Sealed, from, to); err != nil {
			return err
		}
		if fresh.HMACKey, err = rewrapHMACKey(stored.HMACKey, from, to); err != nil {
			return err
		}
		return tx.ReplaceKeyset(stored, fresh)
	})
}

func rewrapKeyset(sealed []byte, from, to tink.AEAD) ([]byte, error) {
	h, err := readKeyset(sealed, from)
	if err != nil {
		return nil, err
	}
	return writeKeyset(h, to)
}
