package sdk

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// installJava installs the libraries that the pom.xml of a folder names, and returns their folder.
func installJava(t *testing.T, name, folder string) string {
	t.Helper()
	pom := filepath.Join(folder, "pom.xml")
	return programtest.MustInstall(t, name, mustRead(t, pom), func(into string) (programtest.Command, error) {
		return programtest.Command{Path: "mvn", Args: []string{
			"--batch-mode", "--quiet", "--no-transfer-progress", "--file", pom,
			"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + into,
		}}, nil
	})
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// absolute returns the absolute path of a file in this folder.
func absolute(t *testing.T, path string) string {
	t.Helper()
	return filepath.Join(programtest.MustRoot(t), "deploy", "test", "sdk", path)
}

// node returns a Node client of a dialect, installed under a name.
func node(t *testing.T, name, dialect, program string, env ...string) Client {
	t.Helper()
	folder := absolute(t, dialect+"/node")
	return Client{
		Name: "node", Command: []string{"node", cmp.Or(program, filepath.Join(folder, "walk.js"))},
		Env: append(env, "NODE_PATH="+programtest.MustInstallNode(t, name, folder)),
	}
}

// python returns a Python client of a dialect.
func python(t *testing.T, dialect, program string, env ...string) Client {
	t.Helper()
	return Client{
		Name: "python", Command: []string{"python3", cmp.Or(program, absolute(t, dialect+"/python/walk.py"))},
		Env: append(env, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"),
	}
}

// java returns a Java client of a dialect, installed under a name. Its trust store has the
// development authority, like a user's.
func java(t *testing.T, s *System, name, dialect, program string, env ...string) Client {
	t.Helper()
	libraries, store := installJava(t, name, absolute(t, dialect+"/java")), filepath.Join(t.TempDir(), "trust.p12")
	programtest.MustOutput(t, programtest.Command{Path: "keytool", Args: []string{
		"-importcert", "-noprompt", "-alias", "causeway", "-file", s.CA, "-keystore", store, "-storetype", "PKCS12",
		"-storepass", "changeit",
	}})
	return Client{Name: "java", Env: env, Command: []string{
		"java", "-XX:TieredStopAtLevel=1", "-Djavax.net.ssl.trustStore=" + store,
		"-Djavax.net.ssl.trustStorePassword=changeit",
		"-cp", libraries + "/*", cmp.Or(program, absolute(t, dialect+"/java/Walk.java")),
	}}
}
