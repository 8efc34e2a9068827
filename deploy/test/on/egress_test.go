package on_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestWebhookPorts checks that the network policies of core's pods let webhooks through to each
// port of an endpoint that v1 accepts.
func TestWebhookPorts(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.startAll(t)
	key := m.must(t, "core keys create --data /var/lib/causeway/core --merchant "+
		m.must(t, "core merchants create Shop --data /var/lib/causeway/core"))
	var accepted []int32
	for _, scheme := range []string{"http", "https"} {
		for _, port := range []int32{25, 80, 443, 444, 1023, 1024, 8080, 8443, 65535} {
			body := fmt.Sprintf(`{"url": "%s://hooks.example.com:%d/", "enabled_events": ["*"]}`, scheme, port)
			status, response := m.call(t, http.MethodPost, "https://api.example.com/v1/webhook_endpoints", key, body)
			switch status {
			case http.StatusCreated:
				accepted = append(accepted, port)
			case http.StatusBadRequest, http.StatusUnprocessableEntity:
			default:
				t.Fatalf("%s: got %d %s", body, status, response)
			}
		}
	}
	if len(accepted) < 2 {
		t.Fatalf("v1 accepts only the ports %v", accepted)
	}
	for _, folder := range []string{"base", "several"} {
		o := mustBuild(t, filepath.Join(root, "deploy/on/kubernetes", folder))
		for name, pod := range o.pods {
			if !slices.ContainsFunc(all(pod), func(c corev1.Container) bool { return c.Name == "core" }) {
				continue
			}
			for _, port := range accepted {
				if !o.reaches(pod, port) {
					t.Errorf("%s: webhooks from %s to port %d are dropped", folder, name, port)
				}
			}
		}
	}
}

// reaches reports whether the network policies let a pod connect to a port of a public address.
func (o objects) reaches(pod corev1.PodTemplateSpec, port int32) bool {
	return slices.ContainsFunc(o.policies, func(p networkingv1.NetworkPolicy) bool {
		for name, value := range p.Spec.PodSelector.MatchLabels {
			if pod.Labels[name] != value {
				return false
			}
		}
		return slices.ContainsFunc(p.Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
			public := slices.ContainsFunc(r.To, func(to networkingv1.NetworkPolicyPeer) bool {
				return to.IPBlock != nil && to.IPBlock.CIDR == "0.0.0.0/0"
			})
			return public && slices.ContainsFunc(r.Ports, func(open networkingv1.NetworkPolicyPort) bool {
				last := open.Port.IntVal
				if open.EndPort != nil {
					last = *open.EndPort
				}
				return open.Port.IntVal <= port && port <= last
			})
		})
	})
}

// TestPoliciesAdmitLittle checks that a network policy lets pods out only to named pods and to
// public addresses. It lets clients from everywhere in only to the ports of Causeway's own Envoy.
func TestPoliciesAdmitLittle(t *testing.T) {
	t.Parallel()
	private := []string{"10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"}
	for _, folder := range []string{"base", "several", "merchant-example"} {
		for _, p := range mustBuild(t, installation(t, folder)).policies {
			for _, rule := range p.Spec.Egress {
				if len(rule.To) == 0 {
					t.Errorf("%s: %s lets pods out to every address on %v", folder, p.Name, rule.Ports)
				}
				for _, to := range rule.To {
					if to.IPBlock == nil || to.IPBlock.CIDR != "0.0.0.0/0" {
						continue
					}
					for _, block := range private {
						if !slices.Contains(to.IPBlock.Except, block) {
							t.Errorf("%s: %s lets pods out to %s", folder, p.Name, block)
						}
					}
				}
			}
			for _, rule := range p.Spec.Ingress {
				if len(rule.From) == 0 && p.Name != "causeway" {
					t.Errorf("%s: %s admits every client to %v", folder, p.Name, rule.Ports)
				}
			}
		}
	}
}
