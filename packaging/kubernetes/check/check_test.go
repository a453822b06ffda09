// Package check reads the Kubernetes files as Kubernetes and KEDA would: strictly, against their own types and schemas.
// It is a module of its own, since nothing else here needs these.
package check

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	_ "github.com/kedacore/keda/v2/version" // keeps KEDA's module, with its schemas, at hand
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// settleSeconds is what a worker may take beyond DRAIN_MAX_SEC; see internal/cli/run.go.
const settleSeconds = 180

const tenant = "southhaven"

// object is one document of the file, as JSON and by its kind.
type object struct {
	APIVersion, Kind string
	text             []byte
}

func objects(t *testing.T, name string) []object {
	t.Helper()
	file, err := os.ReadFile("../" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, text := range bytes.Split(bytes.ReplaceAll(file, []byte("TENANT"), []byte(tenant)), []byte("\n---\n")) {
		o := object{text: text}
		if err := yaml.Unmarshal(text, &o); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		all = append(all, o)
	}
	return all
}

// TestKubernetes: every object is one that the API's types take, with no field that they don't know; and they fit each
// other.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	var settings corev1.ConfigMap
	var secret corev1.Secret
	var deployment appsv1.Deployment
	into := map[string]any{
		"v1/ServiceAccount": &corev1.ServiceAccount{}, "v1/ConfigMap": &settings, "v1/Secret": &secret,
		"apps/v1/Deployment": &deployment,
	}
	for _, o := range objects(t, "tenant.yaml") {
		target := into[o.APIVersion+"/"+o.Kind]
		if strings.HasPrefix(o.APIVersion, "keda.sh/") {
			continue // see TestKEDA
		}
		if target == nil {
			t.Fatalf("%s %s is not looked at", o.APIVersion, o.Kind)
		}
		if err := yaml.UnmarshalStrict(o.text, target); err != nil {
			t.Fatalf("%s: %v", o.Kind, err)
		}
	}
	checkDoctor(t, deployment)
	pod := deployment.Spec.Template.Spec
	drain, err := strconv.ParseInt(settings.Data["DRAIN_MAX_SEC"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if grace := pod.TerminationGracePeriodSeconds; grace == nil || *grace != drain+settleSeconds {
		t.Errorf("the grace must be %d s: DRAIN_MAX_SEC, and %d s more", drain+settleSeconds, settleSeconds)
	}
	c := pod.Containers[0]
	if s := c.SecurityContext; !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation ||
		s.Capabilities.Drop[0] != "ALL" || !*pod.SecurityContext.RunAsNonRoot {
		t.Errorf("the container may do too much: %+v", s)
	}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
		if v.Secret != nil && v.Secret.SecretName != secret.Name {
			t.Errorf("it mounts the secret %s, and there is %s", v.Secret.SecretName, secret.Name)
		}
	}
	writable := map[string]bool{}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("there is no volume %s", m.Name)
		}
		writable[m.MountPath] = !m.ReadOnly
	}
	// The image's root is read-only: what it writes to are volumes.
	dockerfile, err := os.ReadFile("../../container/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)(?:CACHE_DIRECTORY|TMPDIR|RUNTIME_DIRECTORY)=(\S+)`).
		FindAllSubmatch(dockerfile, -1) {
		if !writable[string(m[1])] {
			t.Errorf("%s is not writable", m[0])
		}
	}
	user := fmt.Sprintf("USER %d:%d\n", *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup)
	if !strings.Contains(string(dockerfile), user) {
		t.Errorf("the image runs as another user than %s", user)
	}
	for key, value := range deployment.Spec.Selector.MatchLabels {
		if deployment.Spec.Template.Labels[key] != value {
			t.Errorf("the selector's label %s is not the pods'", key)
		}
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p == nil || p.HTTPGet.Port.String() != c.Ports[0].Name ||
			!strings.HasSuffix(settings.Data["HTTP_ADDR"], fmt.Sprint(":", c.Ports[0].ContainerPort)) {
			t.Errorf("a probe is missing or asks elsewhere: %+v", p)
		}
	}
}

// checkDoctor compares the pod of doctor.yaml with the workers': it sees what they see, and no selector takes it for one of
// them.
func checkDoctor(t *testing.T, workers appsv1.Deployment) {
	t.Helper()
	var doctor corev1.Pod
	if err := yaml.UnmarshalStrict(objects(t, "doctor.yaml")[0].text, &doctor); err != nil {
		t.Fatal(err)
	}
	label := "app.kubernetes.io/name"
	if doctor.Labels[label] == workers.Spec.Selector.MatchLabels[label] {
		t.Errorf("the doctor's pod has the workers' label %s", label)
	}
	pod, worker := doctor.Spec, workers.Spec.Template.Spec.DeepCopy()
	if pod.RestartPolicy != corev1.RestartPolicyNever || pod.Containers[0].Args[0] != "doctor" {
		t.Errorf("it does not end, or is no doctor: %s, %q", pod.RestartPolicy, pod.Containers[0].Args)
	}
	pod.RestartPolicy, worker.TerminationGracePeriodSeconds = "", nil
	d, w := &pod.Containers[0], &worker.Containers[0]
	d.Name, d.Args = "", nil
	w.Name, w.Args, w.Ports, w.StartupProbe, w.ReadinessProbe, w.LivenessProbe = "", nil, nil, nil, nil, nil
	if ours, theirs := marshal(t, pod), marshal(t, worker); ours != theirs {
		t.Errorf("the doctor's pod is\n%s\nthe workers' is\n%s", ours, theirs)
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
