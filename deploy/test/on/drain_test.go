package on_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestDrain checks that edge drain returns only after the response to a payment in progress.
func TestDrain(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.startAll(t)
	key := m.must(t, "core keys create --data /var/lib/causeway/core --merchant "+
		m.must(t, "core merchants create Shop --data /var/lib/causeway/core"))
	responses := make(chan string, 1)
	go func() {
		// The card's approval takes five seconds.
		_, response := m.call(t, http.MethodPost, "https://api.example.com/v1/transactions", key,
			strings.Replace(payment, `"card"`, `"pm_card_slow"`, 1))
		responses <- response
	}()
	m.envoy.Wait(t, "has no request under way", func() bool {
		return strings.Contains(m.envoy.Get(t, "/stats?filter=edge.downstream_rq_active"), ": 1")
	})
	for impatience := 500 * time.Millisecond; ; impatience *= 2 {
		out, err := m.run(t, "edge drain --admin "+administration+" --quiet 1ms --patience "+impatience.String())
		if err != nil && strings.Contains(out, "deadline exceeded") && impatience < 4*time.Second {
			continue // a busy machine: Envoy returned no count
		}
		if err == nil && impatience > 500*time.Millisecond {
			select {
			case response := <-responses:
				responses <- response
				t.Log("the payment was through before anybody could be impatient: the machine is busy")
				impatience = patience
			case <-time.After(time.Second):
			}
		}
		if impatience == patience {
			break
		}
		if err == nil || !strings.Contains(out, "1 requests are under way") {
			t.Errorf("impatient: got %v, %s", err, out)
		}
		break
	}
	m.must(t, "edge drain --admin "+administration+" --quiet 1ms --patience "+patience.String())
	select {
	case response := <-responses:
		if !strings.Contains(response, `"status":"captured"`) {
			t.Errorf("got %s", response)
		}
	case <-time.After(patience):
		t.Error("the drain ended, and the payment got no response")
	}
}

// TestOneDrainTime checks that each Envoy closes idle connections of clients within one drain time,
// before the drain's patience ends. By default Envoy takes ten minutes for that.
func TestOneDrainTime(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	words, _ := m.unit(t, "envoy")
	commands := map[string][]string{
		"systemd": words, "compose": mustLoad(t, "compose.yaml").Services["envoy"].Command,
	}
	for _, folder := range []string{"base", "several"} {
		for _, pod := range mustBuild(t, filepath.Join(root, "deploy/on/kubernetes", folder)).pods {
			for _, c := range all(pod) {
				if c.Name == "envoy" {
					commands["kubernetes/"+folder] = c.Args
				}
			}
		}
	}
	if len(commands) != 4 {
		t.Errorf("found %d Envoys, want 4", len(commands))
	}
	for platform, command := range commands {
		at := slices.Index(command, "--drain-time-s")
		if at < 0 || at+1 == len(command) || command[at+1] != "10" {
			t.Errorf("%s: Envoy runs as %v, want --drain-time-s 10", platform, command)
		}
	}
}

// TestDrainsReachEnvoy checks that the drain of each platform names the socket of Envoy's
// administration. In a container it must also mount its folder, and run as Envoy's user.
func TestDrainsReachEnvoy(t *testing.T) {
	t.Parallel()
	unit := string(mustRead(t, "deploy/on/systemd/causeway-envoy.service"))
	if !strings.Contains(unit, "/edge drain --admin "+administration+" ") {
		t.Errorf("systemd: ExecStop does not name %s", administration)
	}
	services := mustLoad(t, "compose.yaml").Services
	drain := services["drain"]
	if !slices.Contains(drain.Command, administration) || drain.User != services["envoy"].User ||
		len(drain.Volumes) != 1 || drain.Volumes[0].Target != filepath.Dir(strings.TrimPrefix(administration, "unix:")) {
		t.Errorf("compose: the drain is %v of %s with %v", drain.Command, drain.User, drain.Volumes)
	}
	for name, pod := range mustBuild(t, filepath.Join(root, "deploy/on/kubernetes/base")).pods {
		containers := map[string]corev1.Container{}
		for _, c := range all(pod) {
			containers[c.Name] = c
		}
		drain, envoy := containers["drain"], containers["envoy"]
		if !slices.Contains(drain.Args, administration) || len(drain.VolumeMounts) != 1 ||
			*drain.SecurityContext.RunAsUser != *envoy.SecurityContext.RunAsUser {
			t.Errorf("%s: the drain is %v with %v", name, drain.Args, drain.VolumeMounts)
		}
	}
}
