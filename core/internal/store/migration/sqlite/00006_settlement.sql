-- +goose Up
-- When a merchant's day ends: minutes after local midnight in an IANA time zone.
ALTER TABLE merchants ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE merchants ADD COLUMN cutoff INTEGER NOT NULL DEFAULT 0 CHECK (cutoff BETWEEN 0 AND 1439);

-- How far each tenant is settled. Captures below from_id need not be looked at again, so that no index is kept on the way of a payment.
CREATE TABLE settlement_marks (
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    through     INTEGER NOT NULL, -- the cut-off that was run last
    from_id     INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, live)
) STRICT;

-- How far a merchant's test objects are ahead of time.
CREATE TABLE test_clocks (
    merchant_id INTEGER PRIMARY KEY,
    offset_ms   INTEGER NOT NULL CHECK (offset_ms >= 0)
) STRICT;

-- When the acquirer took it; 0 where that is created_at.
ALTER TABLE captures ADD COLUMN captured_at INTEGER NOT NULL DEFAULT 0;
UPDATE captures SET captured_at = updated_at WHERE state = 'succeeded' AND settled = 0;
ALTER TABLE captures ADD COLUMN amount_refunded INTEGER NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0);
ALTER TABLE captures ADD COLUMN amount_refund_pending INTEGER NOT NULL DEFAULT 0
    CHECK (amount_refund_pending >= 0 AND amount_refunded + amount_refund_pending <= amount);
ALTER TABLE refunds ADD COLUMN capture_id INTEGER NOT NULL DEFAULT 0; -- 0 where it is of no single capture
UPDATE refunds SET capture_id = COALESCE((SELECT CASE COUNT(*) WHEN 1 THEN MAX(c.id) ELSE 0 END FROM captures c
    WHERE c.transaction_id = refunds.transaction_id AND c.state = 'succeeded'), 0);
UPDATE captures SET
    amount_refunded = (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r WHERE r.transaction_id = captures.transaction_id
        AND r.capture_id = captures.id AND r.state = 'succeeded'),
    amount_refund_pending = (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r WHERE r.transaction_id = captures.transaction_id
        AND r.capture_id = captures.id AND r.state = 'pending')
    WHERE state = 'succeeded';

-- When an uncaptured authorization lapses, 0 for never. Only those are in the index: a payment that is captured at once never meets it.
ALTER TABLE transactions ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
UPDATE transactions SET expires_at = COALESCE(json_extract(result, '$.expires_at'), 0) WHERE status IN ('authorized', 'partially_captured');
CREATE INDEX transactions_expiring ON transactions (expires_at)
    WHERE expires_at > 0 AND status IN ('authorized', 'partially_captured');
