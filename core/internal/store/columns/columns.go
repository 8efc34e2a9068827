// Package columns names the columns of each kind of row, in the order in which store scans them.
// The SQL of both engines uses them.
package columns

// The columns of a row.
//
//nolint:gosec // names of columns
const (
	Account = `id, merchant_id, currency, method, rank, kind, profile, vault_key, credentials, state, version, created_at,
		updated_at, rotated_at`
	Attempt = `kind, object_id, number, attempts, running, begun_at, next_at, last_error`
	// LastAttempt is of a step that may have no attempt.
	LastAttempt = `COALESCE(attempts, 0), COALESCE(running, 0), COALESCE(begun_at, 0), COALESCE(next_at, 0)`
	Audit       = `sequence, at, actor, client_address, action, object, state_before, state_after,
		outcome, request_id, previous, mac`
	Broadcast   = `type, name, data, until, place, told, created_at, finished_at`
	Capture     = captureHead + `details` + captureTail
	OpenCapture = captureHead + `''` + captureTail // without details
	Customer    = `id, merchant_id, live, details, version, created_at, updated_at, default_method_id`
	Delivery    = `id, endpoint_id, event_id,
		COALESCE((SELECT type FROM events WHERE events.id = event_id), ''), status, attempts, leased, due_at,
		response_status, error, duration_ms, attempted_at, created_at, updated_at`
	Endpoint = `id, merchant_id, live, url, types, details, status, reason, generation,
		overlap_until, failing_since, version, created_at, updated_at`
	Event = `id, merchant_id, live, type, object_id, sequence, data, created_at`
	Key   = `id, merchant_id, live, kind, name, scopes, addresses, origins, hint, COALESCE(replaced_by, 0), created_at,
		COALESCE(expires_at, 0), COALESCE(revoked_at, 0), COALESCE(last_used_at, 0),
		EXISTS (SELECT 1 FROM merchants m WHERE m.id = merchant_id AND m.disabled_at > 0)`
	Merchant = `id, name, time_zone, cutoff, created_at, disabled_at, unlinked_refunds,
		COALESCE(keep_personal, 0), COALESCE(keep_customers, 0)`
	Method = `id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number,
		created_at, detached_at`
	MLERequirement = `id, endpoints, announced_at, effective_at, withdrawn_at`
	Operator       = `id, name, role, created_at, expires_at, revoked_at, hash`
	Refund         = refundHead + `details` + refundTail
	OpenRefund     = refundHead + `''` + refundTail // without details
	Reversal       = `id, reversals.kind, transaction_id, step_id, attempt, merchant_id, live, amount, currency,
		captured, held, requested, asked, refused, looks, version, since, due_at, claim, account, tag,
		acquirer_id, last4, release, release_tag`
	SettlementTotal = `day_id, currency, source, captures, amount_captured, refunds, amount_refunded`
	Token           = `t.id, t.merchant_id, t.live, t.kind, t.details, t.vault_key, t.number, t.secret_hash,
		t.cvc_given, t.used_by, t.used_at, t.created_at, t.expires_at`
	Transaction     = transactionHead + `details` + transactionTail
	OpenTransaction = transactionHead + `''` + transactionTail // without details
)

// The columns on both sides of details. A merchant's details can be long.
const (
	captureHead = `id, transaction_id, merchant_id, live, state, amount, currency, final, settled, settlement_day,
		amount_refunded, amount_refund_pending, `
	captureTail = `, failure_code, failure_message, claim, created_at,
		updated_at, core_id, reclaimed_at, api_key_id, client_address, account, tag, acquirer_id`
	refundHead = `id, COALESCE(transaction_id, 0), capture_id, merchant_id, live, state, amount,
		currency, settlement_day, `
	refundTail = `, failure_code, failure_message, claim, created_at, updated_at, core_id, reclaimed_at,
		api_key_id, client_address, account, tag, acquirer_id`
	transactionHead = `id, merchant_id, live, status, auto_capture, amount, currency, payment_method,
		amount_authorized, amount_captured, amount_capture_pending, amount_settled, amount_refunded,
		amount_refund_pending, operation, operation_id, `
	transactionTail = `, result, version, claim, created_at, updated_at,
		attempt, partial, core_id, reclaimed_at, refused_confirmations, api_key_id, client_address,
		confirm_api_key_id, confirm_client_address, void_api_key_id, void_client_address, captures_begun,
		declined_confirmations, amount_changed, account, tag, void_tag`
)

// ShownEvent adds payment.Event.Personal to Event. The subquery is no join, so it reads at most two
// rows by their ids, and none for the event of another object.
const ShownEvent = Event + `, COALESCE((SELECT 1 FROM customer_erasures
	WHERE events_due_at > 0 AND customer_id = CASE
		WHEN substr(type, 1, 9) = 'customer.' THEN object_id
		WHEN substr(type, 1, 15) = 'payment_method.' THEN
			(SELECT customer_id FROM payment_methods WHERE payment_methods.id = events.object_id) END), 0)`
