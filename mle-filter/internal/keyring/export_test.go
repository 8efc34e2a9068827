package keyring

import "context"

// ReadSlowly reads a tenant as a request does, calls meanwhile, and only then keeps the tenant in
// memory.
func (r *Keyring) ReadSlowly(ctx context.Context, tenant string, meanwhile func()) error {
	c, err := r.readNow(ctx, tenant)
	if err != nil {
		return err
	}
	meanwhile()
	r.put(tenant, c)
	return nil
}

// RevisionQuery returns a query that all waiting callers share.
func RevisionQuery(revision func(context.Context) (int64, error)) func(context.Context) (int64, error) {
	return newRevisionQuery(revision).now
}

// Opens reads a tenant's keys from the store, without a time limit, and opens one.
func (r *Keyring) Opens(ctx context.Context, tenant, kid string) error {
	c, err := r.readNow(ctx, tenant)
	if err != nil {
		return err
	}
	_, err = c.key(kid).open()
	return err
}
