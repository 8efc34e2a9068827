package metrics

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
)

// pendingPatience bounds the count of pending deliveries, so that a store in trouble does not hide
// all other series.
const pendingPatience = 2 * time.Second

type webhooks struct {
	attempts   *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	disabled   *prometheus.CounterVec
	discarded  prometheus.Counter
}

func newWebhooks() webhooks {
	w := webhooks{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_webhook_attempts_total",
			Help: "Ended attempts to deliver a webhook, by outcome: accepted, or the class of the failure.",
		}, []string{"outcome"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_webhook_deliveries_total",
			Help: "Webhook deliveries that ended: accepted by the receiver, or failed.",
		}, []string{"status"}),
		disabled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_webhook_endpoints_disabled_total",
			Help: "Webhook endpoints that were disabled because of their responses, by reason.",
		}, []string{"reason"}),
		discarded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "causeway_webhook_discarded_total",
			Help: "Webhook deliveries that ended as failed because too many were pending.",
		}),
	}
	for _, outcome := range []string{
		"accepted", webhook.ErrorTimeout, webhook.ErrorDNS, webhook.ErrorAddress, webhook.ErrorTLS, webhook.ErrorConnection,
		webhook.ErrorRedirect,
		webhook.ErrorStatus,
	} {
		w.attempts.WithLabelValues(outcome)
	}
	for _, status := range []payment.DeliveryStatus{payment.DeliverySucceeded, payment.DeliveryFailed} {
		w.deliveries.WithLabelValues(string(status))
	}
	for _, reason := range []payment.EndpointReason{payment.ReasonGone, payment.ReasonFailing} {
		w.disabled.WithLabelValues(string(reason))
	}
	return w
}

func (w *webhooks) all() []prometheus.Collector {
	return []prometheus.Collector{w.attempts, w.deliveries, w.disabled, w.discarded}
}

// DeliveryAttempted implements webhook.Observer.
func (w *webhooks) DeliveryAttempted(failure string, status payment.DeliveryStatus) {
	w.attempts.WithLabelValues(cmp.Or(failure, "accepted")).Inc()
	if status != payment.DeliveryPending {
		w.deliveries.WithLabelValues(string(status)).Inc()
	}
}

// EndpointDisabled implements webhook.Observer.
func (w *webhooks) EndpointDisabled(reason payment.EndpointReason) {
	w.disabled.WithLabelValues(string(reason)).Inc()
}

// DeliveriesDiscarded implements webhook.Observer.
func (w *webhooks) DeliveriesDiscarded(n int64) {
	w.discarded.Add(float64(n))
	w.deliveries.WithLabelValues(string(payment.DeliveryFailed)).Add(float64(n))
}

var (
	pendingCount = prometheus.NewDesc("causeway_webhook_pending_deliveries",
		"Webhook deliveries that wait for an attempt or are in progress.", nil, nil)
	pendingAge = prometheus.NewDesc("causeway_webhook_oldest_pending_seconds",
		"Age of the oldest pending webhook delivery, 0 for none.", nil, nil)
)

// pending counts the pending deliveries at a scrape. While the store cannot be read, both series
// are missing.
type pending struct{ Config }

// Describe implements prometheus.Collector.
func (pending) Describe(out chan<- *prometheus.Desc) {
	out <- pendingCount
	out <- pendingAge
}

// Collect implements prometheus.Collector.
func (p pending) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), pendingPatience)
	defer cancel()
	n, oldest, err := p.Pending(ctx)
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(pendingCount, prometheus.GaugeValue, float64(n))
	out <- prometheus.MustNewConstMetric(pendingAge, prometheus.GaugeValue, age(p.Clock, oldest))
}
