package build

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
)

const (
	// watched is how often an upstream is asked for its health that is alone: for metrics. It is sent requests whatever it says.
	watched = 5 * time.Second
	// chosen is how often one of several is. It has to be less than half of the notice that a program gives before it ends.
	chosen = time.Second
)

// several reports whether requests of a cluster can go to more than one: to those of a list, and to all that a name stands for.
func several(c *clusterv3.Cluster) bool {
	return len(c.GetLoadAssignment().GetEndpoints()[0].GetLbEndpoints()) > 1 || c.GetType() == clusterv3.Cluster_STRICT_DNS
}

// balance has requests go to those alone that are well, however few, and to all when none is. One that cannot be reached, or that breaks connections,
// is left out for a second or more, before its health is known; what it answers counts for nothing there, since a store that is away is away for all.
func balance(c *clusterv3.Cluster) {
	c.CommonLbConfig = &clusterv3.Cluster_CommonLbConfig{HealthyPanicThreshold: &typev3.Percent{Value: 1}}
	c.OutlierDetection = &clusterv3.OutlierDetection{
		SplitExternalLocalOriginErrors: true, ConsecutiveLocalOriginFailure: u32(3), EnforcingConsecutiveLocalOriginFailure: u32(100),
		EnforcingConsecutive_5Xx: u32(0), EnforcingConsecutiveGatewayFailure: u32(0), EnforcingSuccessRate: u32(0), EnforcingLocalOriginSuccessRate: u32(0),
		Interval: duration(chosen), BaseEjectionTime: duration(chosen), MaxEjectionTime: duration(10 * chosen), MaxEjectionPercent: u32(50),
	}
}

// healthChecks ask by way of a checker. One who answers that he is unwell is left out at once, one who does not answer after the third time.
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
		HealthChecker: &corev3.HealthCheck_HttpHealthCheck_{HttpHealthCheck: &corev3.HealthCheck_HttpHealthCheck{Path: path, Host: host}},
	}
}

func grpcHealth() *corev3.HealthCheck {
	return &corev3.HealthCheck{HealthChecker: &corev3.HealthCheck_GrpcHealthCheck_{GrpcHealthCheck: &corev3.HealthCheck_GrpcHealthCheck{}}}
}
