package build

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
)

const (
	// watched is the interval of the health checks of a single upstream, for metrics. It gets requests
	// whether or not it is healthy.
	watched = 5 * time.Second
	// chosen is the interval of the health checks of several upstreams. It must be less than half of
	// the notice that a program gives before its end.
	chosen = time.Second
)

// several reports whether a cluster may have more than one server: a list, or a name with several
// addresses.
func several(c *clusterv3.Cluster) bool {
	return len(c.GetLoadAssignment().GetEndpoints()[0].GetLbEndpoints()) > 1 || c.GetType() == clusterv3.Cluster_STRICT_DNS
}

// balance sends requests only to healthy servers, or to all if none is healthy. A server that
// refuses or breaks connections is excluded for a second or more, before its health is known. Its
// responses do not count there: while the store is unavailable, all servers return 503.
func balance(c *clusterv3.Cluster) {
	c.CommonLbConfig = &clusterv3.Cluster_CommonLbConfig{HealthyPanicThreshold: &typev3.Percent{Value: 1}}
	c.OutlierDetection = &clusterv3.OutlierDetection{
		SplitExternalLocalOriginErrors: true,
		Interval:                       duration(chosen),
		BaseEjectionTime:               duration(chosen),
		MaxEjectionTime:                duration(10 * chosen),
		MaxEjectionPercent:             u32(50),
		ConsecutiveLocalOriginFailure:  u32(3),

		EnforcingConsecutiveLocalOriginFailure: u32(100),
		EnforcingConsecutive_5Xx:               u32(0),
		EnforcingConsecutiveGatewayFailure:     u32(0),
		EnforcingSuccessRate:                   u32(0),
		EnforcingLocalOriginSuccessRate:        u32(0),
	}
}

// healthChecks adds the timing to a health check. An unhealthy response excludes a server
// immediately, a missing one after the third time.
func healthChecks(c *clusterv3.Cluster, by *corev3.HealthCheck) []*corev3.HealthCheck {
	often := watched
	if several(c) {
		often = chosen
	}
	by.Timeout, by.Interval, by.NoTrafficInterval = duration(2*time.Second), duration(often), duration(often)
	by.UnhealthyThreshold, by.HealthyThreshold = u32(3), u32(1)
	return []*corev3.HealthCheck{by}
}

func httpHealth(path, host string) *corev3.HealthCheck {
	return &corev3.HealthCheck{
		HealthChecker: &corev3.HealthCheck_HttpHealthCheck_{
			HttpHealthCheck: &corev3.HealthCheck_HttpHealthCheck{Path: path, Host: host},
		},
	}
}

func grpcHealth() *corev3.HealthCheck {
	return &corev3.HealthCheck{
		HealthChecker: &corev3.HealthCheck_GrpcHealthCheck_{GrpcHealthCheck: &corev3.HealthCheck_GrpcHealthCheck{}},
	}
}
