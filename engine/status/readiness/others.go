package readiness

import "cmp"

// service is ready at once, but one of type LoadBalancer needs its address.
func service(obj map[string]any) Verdict {
	if str(obj, "spec", "type") != "LoadBalancer" {
		return ready
	}
	for _, item := range list(obj, "status", "loadBalancer", "ingress") {
		m, _ := item.(map[string]any)
		if str(m, "ip") != "" || str(m, "hostname") != "" {
			return ready
		}
	}
	return waiting("the load balancer has no address yet")
}

// told is the message of the first condition that has one; "" if none has.
func told(obj map[string]any) string {
	for _, c := range conditions(obj) {
		if c.Message != "" {
			return join(c.Type, c.Message)
		}
	}
	return ""
}

func volume(obj map[string]any) Verdict {
	switch phase := str(obj, "status", "phase"); phase {
	case "Available", "Bound":
		return ready
	case "Failed":
		return failed(join("phase Failed", str(obj, "status", "reason")))
	case "":
		return waiting(messageNoStatus)
	default:
		return waiting("phase " + phase)
	}
}

// autoscaler is ready when it can scale its target; that metrics are missing
// is not held against it. The old API has no conditions and is ready at once.
func autoscaler(obj map[string]any) Verdict {
	if str(obj, "apiVersion") == "autoscaling/v1" {
		return ready
	}
	return needs(obj, "AbleToScale")
}

func apiService(obj map[string]any) Verdict { return needs(obj, "Available") }

// needs wants one condition to be True.
func needs(obj map[string]any, kind string) Verdict {
	c := find(conditions(obj), kind)
	switch c.Status {
	case "True":
		return ready
	case "":
		return waiting(messageNoStatus)
	}
	return waiting(join(cmp.Or(c.Reason, "not "+kind), c.Message))
}

// route is ready when any router has admitted it.
func route(obj map[string]any) Verdict {
	refusal := "no router has admitted it yet"
	for _, item := range list(obj, "status", "ingress") {
		m, _ := item.(map[string]any)
		c := find(parse(list(m, "conditions")), "Admitted")
		if c.Status == "True" {
			return ready
		}
		if c.Status == "False" {
			refusal = join("not admitted", join(c.Reason, c.Message))
		}
	}
	return waiting(refusal)
}
