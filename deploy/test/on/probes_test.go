package on_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestNoProbeDependsOnAnotherProgram checks that a pod stays ready, and is not restarted, while v1
// or its server is unavailable. The health of our programs is 503 then. A pod that left its Service
// for that would give its clients connection errors instead of 503 with Retry-After.
func TestNoProbeDependsOnAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"base", "example", "merchant-example", "several", "several-example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for pod, template := range mustBuild(t, installation(t, name)).pods {
				for _, c := range all(template) {
					checkProbes(t, pod, c)
				}
			}
		})
	}
}

// checkProbes accepts connections to a port, and /ready of Envoy, which does not depend on its
// upstreams.
func checkProbes(t *testing.T, pod string, c corev1.Container) {
	t.Helper()
	for kind, p := range map[string]*corev1.Probe{
		"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe,
	} {
		if p == nil || p.TCPSocket != nil {
			continue
		}
		if p.HTTPGet == nil || p.HTTPGet.Path != "/ready" || p.HTTPGet.Port.StrVal != "ops-envoy" {
			t.Errorf("%s/%s: the %s probe can depend on another program: %+v", pod, c.Name, kind, p.ProbeHandler)
		}
	}
}
