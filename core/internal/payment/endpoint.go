package payment

import (
	"slices"
	"time"
)

// AllEventTypes stands for every event type.
const AllEventTypes = "*"

// EndpointStatus is the status of a webhook endpoint.
type EndpointStatus string

// The statuses of endpoints.
const (
	EndpointEnabled  EndpointStatus = "enabled"
	EndpointDisabled EndpointStatus = "disabled"
	EndpointDeleted  EndpointStatus = "deleted" // until its deliveries are removed; no response shows it
)

// EndpointReason is the reason for which an endpoint is disabled.
type EndpointReason string

// The reasons.
const (
	ReasonRequested EndpointReason = "requested" // by the merchant
	ReasonGone      EndpointReason = "gone"      // it responded 410
	ReasonFailing   EndpointReason = "failing"   // every attempt failed for days
)

// Endpoint is a webhook endpoint of a tenant.
type Endpoint struct {
	ID           int64
	Tenant       Tenant
	URL          string
	Types        []string // event types, or AllEventTypes alone
	Details      []byte   // the merchant's own fields, as the contract shows them
	Status       EndpointStatus
	Reason       EndpointReason // only when disabled
	Generation   int64          // of its secret, from 1
	OverlapUntil time.Time      // until when the generation before signs too; zero for not at all
	FailingSince time.Time      // zero unless the last attempt failed
	Version      int64
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Wants reports whether events of a type are delivered to the endpoint.
func (e *Endpoint) Wants(eventType string) bool {
	return slices.Contains(e.Types, eventType) || slices.Contains(e.Types, AllEventTypes)
}

// DeliveryStatus is the status of a delivery.
type DeliveryStatus string

// The statuses of deliveries.
const (
	DeliveryPending   DeliveryStatus = "pending" // another attempt is due, or is under way
	DeliverySucceeded DeliveryStatus = "succeeded"
	DeliveryFailed    DeliveryStatus = "failed" // no further attempt
)

// Delivery brings one event to one endpoint, attempt by attempt.
type Delivery struct {
	ID        int64
	Tenant    Tenant
	Endpoint  int64
	Event     int64
	EventType string
	Status    DeliveryStatus
	Attempts  int64           // begun so far
	Leased    bool            // an attempt is under way
	DueAt     time.Time       // of the next attempt; while one is under way, the end of its lease
	Last      DeliveryAttempt // the last one that ended
	CreatedAt time.Time
	UpdatedAt time.Time
}

// DeliveryAttempt is the result of one attempt.
type DeliveryAttempt struct {
	At       time.Time     // when it began; zero before the end of the first attempt
	Status   int           // HTTP status, 0 without a response
	Error    string        // class of the failure, "" for none
	Duration time.Duration // in whole milliseconds
}
