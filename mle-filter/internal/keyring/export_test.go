package keyring

import "context"

// ReadSlowly reads a tenant as a request does, lets something happen, and only then keeps in memory what it has read.
func (r *Keyring) ReadSlowly(ctx context.Context, tenant string, meanwhile func()) error {
	h, err := r.readNow(ctx, tenant)
	if err != nil {
		return err
	}
	meanwhile()
	r.hold(tenant, h)
	return nil
}

// Inquiry returns a query that all callers that wait share.
func Inquiry(revision func(context.Context) (int64, error)) func(context.Context) (int64, error) {
	return newInquiry(revision).now
}

// Opens reads a tenant's keys from the store, however long that takes, and opens one.
func (r *Keyring) Opens(ctx context.Context, tenant, kid string) error {
	h, err := r.readNow(ctx, tenant)
	if err != nil {
		return err
	}
	_, err = h.key(kid).open()
	return err
}
