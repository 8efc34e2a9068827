package keyring

import "context"

// ReadSlowly reads a tenant as a request does, calls meanwhile, and only then keeps the tenant in
// memory.
func (r *Keyring) ReadSlowly(ctx context.Context, tenant string, meanwhile func()) error {
	h, err := r.readNow(ctx, tenant)
	if err != nil {
		return err
	}
	meanwhile()
	r.hold(tenant, h)
	return nil
}

// Inquiry returns a query that all waiting callers share.
func Inquiry(revision func(context.Context) (int64, error)) func(context.Context) (int64, error) {
	return newInquiry(revision).now
}

// Opens reads a tenant's keys from the store, without a time limit, and opens one.
func (r *Keyring) Opens(ctx context.Context, tenant, kid string) error {
	h, err := r.readNow(ctx, tenant)
	if err != nil {
		return err
	}
	_, err = h.key(kid).open()
	return err
}
