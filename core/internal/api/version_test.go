package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// expecting returns the body of a void of a transaction in one version.
func expecting(version int64) string { return fmt.Sprintf(`{"expected_version":%d}`, version) }

// versionConflict returns the refusal of a request that expects another version.
func versionConflict() refusal {
	return refusal{409, v1.ErrorTypeInvalidRequestError, "version_conflict", "expected_version"}
}

func (b *bundle) voidOf(t *testing.T, txn string, version int64, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/transactions/"+txn+"/void", expecting(version), options...)
}

// TestVoidOfAnotherVersion captures between the read and the void: the void is refused and the
// captured money stays. A retry under the same key gets the same bytes, even after the version
// matches.
func TestVoidOfAnotherVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := b.MustCreate(t, 100, manual)
	b.steps(t, read.ID, "capture")
	first := b.voidOf(t, read.ID, read.Version, keyed("void"))
	e := wantRefusal(t, first, versionConflict())
	now := b.transaction(t, read.ID)
	changed := now.Version != read.Version && now.AmountCaptured != 0
	if e.Transaction == nil || e.Transaction.Version != now.Version || !changed {
		t.Errorf("refused with %+v, the transaction is now %+v", e.Transaction, now)
	}
	got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, "void"), 200)
	if got.ErrorCode == nil || *got.ErrorCode != "version_conflict" {
		t.Errorf("the key's record: got %+v", got)
	}
	wantRefusal(t, b.voidOf(t, read.ID, now.Version+1), versionConflict())
	MustDecode[v1.Transaction](t, b.voidOf(t, read.ID, now.Version), 200)
	b.wantTransaction(t, read.ID, v1.TransactionStatusVoided, amounts{100, 0, 0, 0, 0})
	again := b.voidOf(t, read.ID, read.Version, keyed("void"))
	if again.status != 409 || !bytes.Equal(again.body, first.body) {
		t.Errorf("the retry: got %d %s, want %s", again.status, again.body, first.body)
	}
}

// TestVoidStateBeforeVersion tests the error of a void that the state does not allow: it names the
// state instead of version_conflict.
func TestVoidStateBeforeVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual)
	b.steps(t, txn.ID, "void")
	wantRefusal(t, b.voidOf(t, txn.ID, txn.Version), conflict("transaction_not_voidable"))
}

func TestCancelOfAnotherVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.post(t, "/v1/transactions", `{"amount":5,"currency":"usd","confirm":false}`)
	waiting := MustDecode[v1.Transaction](t, made, 201)
	wantRefusal(t, b.voidOf(t, waiting.ID, waiting.Version+1), versionConflict())
	if got := b.transaction(t, waiting.ID); got.Status != v1.TransactionStatusRequiresConfirmation {
		t.Errorf("after a refused cancelation: got %s", got.Status)
	}
	got := MustDecode[v1.Transaction](t, b.voidOf(t, waiting.ID, waiting.Version), 200)
	if got.Status != v1.TransactionStatusCanceled {
		t.Errorf("got %s", got.Status)
	}
}

func TestDeleteCustomerOfAnotherVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := b.MustCustomer(t, `{"email":"a@b.c"}`)
	path := "/v1/customers/" + read.ID
	now := MustDecode[v1.Customer](t, b.do(t, http.MethodPatch, path, `{"phone":"1"}`), 200)
	remove := func(version int64) response {
		return b.do(t, http.MethodDelete, fmt.Sprintf("%s?expected_version=%d", path, version), "")
	}
	for _, version := range []int64{read.Version, now.Version + 1, 0} {
		wantRefusal(t, remove(version), versionConflict())
		MustDecode[v1.Customer](t, b.get(t, path), 200)
	}
	MustDecode[v1.Deleted](t, remove(now.Version), 200)
	wantRefusal(t, remove(now.Version), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
}

// TestDeleteSeesChangedMethods tests that attaching and detaching a payment method are changes of
// its customer: a deletion that expects an earlier version deletes no card. Each change has an
// event.
func TestDeleteSeesChangedMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := b.MustCustomer(t, "{}")
	path := "/v1/customers/" + read.ID
	remove := func(version int64) response {
		return b.do(t, http.MethodDelete, fmt.Sprintf("%s?expected_version=%d", path, version), "")
	}
	b.clock.Advance(time.Second)
	method := b.MustAttach(t, read.ID, visa).ID
	wantRefusal(t, remove(read.Version), versionConflict())
	attached := MustDecode[v1.Customer](t, b.get(t, path), 200)
	b.clock.Advance(time.Second)
	b.detach(t, read.ID, method)
	wantRefusal(t, remove(attached.Version), versionConflict())
	detached := MustDecode[v1.Customer](t, b.get(t, path), 200)
	if !attached.UpdatedAt.After(read.UpdatedAt.Time) || !detached.UpdatedAt.After(attached.UpdatedAt.Time) {
		t.Errorf("updated at %v, %v and %v", read.UpdatedAt, attached.UpdatedAt, detached.UpdatedAt)
	}
	MustDecode[v1.Deleted](t, remove(detached.Version), 200)
	want := []string{"customer.created 1", "customer.updated 2", "customer.updated 3", "customer.deleted 4"}
	if got := b.events(t, numberOf(t, id.Customer, read.ID)); !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
}

// TestRefusedAttachChangesNoVersion tests that a refused attachment does not change the customer's
// version. A retried successful attachment raises it once.
func TestRefusedAttachChangesNoVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	path := "/v1/customers/" + customer
	body := `{"token":"` + b.MustToken(t, visa).Value.Reveal() + `"}`
	first := b.post(t, path+"/payment_methods", body, keyed("k"))
	MustDecode[v1.PaymentMethod](t, first, 201)
	wantReplay(t, b.post(t, path+"/payment_methods", body, keyed("k")), first)
	if got := b.post(t, path+"/payment_methods", body, keyed("l")); got.status/100 != 4 {
		t.Errorf("a used token: got %d %s", got.status, got.body)
	}
	if got := MustDecode[v1.Customer](t, b.get(t, path), 200); got.Version != 2 {
		t.Errorf("got version %d, want 2", got.Version)
	}
}

func TestExpectedVersionBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn, customer := b.MustCreate(t, 100, manual).ID, b.MustCustomer(t, "{}").ID
	remove := func(version string) response {
		return b.do(t, http.MethodDelete, "/v1/customers/"+customer+"?expected_version="+version, "")
	}
	for _, version := range []string{"-1", "9007199254740992"} {
		a := b.post(t, "/v1/transactions/"+txn+"/void", `{"expected_version":`+version+`}`)
		wantRefusal(t, a, invalid("invalid_value", "expected_version"))
		wantRefusal(t, remove(version), invalid("invalid_value", "expected_version"))
	}
	for _, version := range []string{"", "x", "1.0", "9223372036854775808"} {
		wantRefusal(t, remove(version), invalid("invalid_value", "expected_version"))
	}
	b.transaction(t, txn)
	MustDecode[v1.Customer](t, b.get(t, "/v1/customers/"+customer), 200)
}
